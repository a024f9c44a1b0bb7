/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ports_choice.c - which port a connection gets whose host has named none, on this machine's
 * kernel: within the range of the machine, each of it, and none that is reserved.
 */
#define _GNU_SOURCE
#include "ports_bench.h"

/* Ports that were chosen before are chosen again only where the kernel would choose them now. */
static void a_range_of_chosen_ports(void **state)
{
    static struct port_range range;
    const uint16_t low = 41400;
    struct asker one = {.pid = own.pid, .uid = own.uid, .within = low | (low + 2u) << 16};
    struct ports *p = begin();
    uint16_t port = 0, first, n;

    (void)state;
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    range.first = range.last = (uint16_t)(port < 60000 ? port + 1 : port - 1);
    ports_set_range(p, &range);
    first = port;
    port = 0;
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    assert_int_not_equal(port, first);
    range.first = 1;
    range.last = 65535;
    range.reserved[first / 8] |= (uint8_t)(1u << first % 8);
    for (n = 0; n < 9; n++) { /* three ports, each for several peers */
        port = 0;
        assert_int_equal(connect_from(p, &nowhere, &port, &one), 0);
        assert_in_range(port, low, low + 2);
    }
    end(p);
}

/* Searches for a port within the range, of which only `want` serves the connection. Returns how
 * many ports it was offered, 0 if not that one. */
static unsigned search_for(struct ports *p, const struct asker *who, uint16_t want)
{
    struct ports_search search = {0};
    uint16_t port = 0;
    unsigned n = 0;

    while (port != want) {
        port = 0;
        if (ports_connect(p, &nowhere, &port, &search, who) != 0)
            return 0;
        ports_leave(p, port, PORTS_UNOPENED, NULL, 1);
        n++;
    }
    return n;
}

/* Opens a connection from each port of the range that no other program has, and keeps it. Returns
 * how many, and a port in the middle of them. */
static unsigned take_all(struct ports *p, const struct port_range *range, uint16_t *middle)
{
    const unsigned half = (range->last - range->first) / 2u;
    unsigned n = 0, i;

    for (i = range->first; i <= range->last; i++) {
        struct asker who = {.pid = own.pid, .uid = own.uid, .within = i | i << 16};
        uint16_t port = 0;

        if (connect_from(p, &nowhere, &port, &who) != 0)
            continue; /* another program on this machine has it */
        assert_int_equal(port, i);
        if (n++ <= half)
            *middle = port;
    }
    return n;
}

/* The last port of a large range that serves is found, whether the TOE has it already or not; and
 * the search ends when there is none. */
static void every_port_is_tried(void **state)
{
    static struct port_range range = {.first = 41500, .last = 41999};
    static const uint16_t never = 1; /* neither of the range nor ephemeral for the kernel */
    const unsigned most = 32u + range.last - range.first + 1u;
    struct ports *p = begin();
    struct asker who = own;
    uint16_t some = 0;

    (void)state;
    ports_set_range(p, &range);
    assert_in_range(take_all(p, &range, &some), 100, 500);
    assert_in_range(search_for(p, &who, some), 1, most); /* the TOE has all of them */
    ports_leave(p, some, PORTS_UNOPENED, NULL, 1);
    assert_int_equal(taken[some], 0);
    assert_in_range(search_for(p, &who, some), 1, most); /* all but this one */
    assert_int_equal(search_for(p, &who, never), 0);
    range.reserved[some / 8] |= (uint8_t)(1u << some % 8);
    assert_int_equal(search_for(p, &who, some), 0);
    end(p);
    memset(range.reserved, 0, sizeof(range.reserved));
    p = begin();
    ports_set_range(p, &range);
    assert_in_range(search_for(p, &who, some), 1, most); /* none at all */
    end(p);
}

static void put_setting(const char *dir, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int alone; /* in a network namespace of this program's own */

/* The kernel chooses ports that the TOE was asked to leave: the setting has changed since it was
 * read. */
static void a_reserved_port_of_the_kernels_choice(void **state)
{
    static struct port_range range = {.first = 41500, .last = 41509};
    struct ports *p = begin();
    uint16_t port = 0;

    (void)state;
    if (!alone) {
        end(p);
        skip();
    }
    put_setting(PORT_RANGE_SYS, "ip_local_port_range", "41500 41509\n");
    memset(range.reserved, 0xff, sizeof(range.reserved));
    range.reserved[41503 / 8] &= (uint8_t) ~(1u << 41503 % 8);
    ports_set_range(p, &range);
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    assert_int_equal(port, 41503);
    end(p);
    put_setting(PORT_RANGE_SYS, "ip_local_port_range", "32768 60999\n");
}

static void settings_of_the_machine(void **state)
{
    static const uint16_t listed[] = {0, 22, 8000, 8003, 8008, 65535};
    char dir[] = "/tmp/toehold-ports-XXXXXX", path[256];
    static struct port_range r;
    uint32_t n = 0, i;

    (void)state;
    assert_non_null(mkdtemp(dir));
    port_range_read(dir, &r); /* there are none: defaults */
    assert_int_equal(r.last, 0);
    put_setting(dir, "ip_local_port_range", "40000\t40999\n");
    put_setting(dir, "ip_local_reserved_ports", "0,22,8000-8003,8008,65535\n");
    port_range_read(dir, &r);
    assert_int_equal(r.first, 40000);
    assert_int_equal(r.last, 40999);
    for (i = 0; i < 65536; i++)
        n += r.reserved[i / 8] >> i % 8 & 1;
    assert_int_equal(n, 8);
    for (i = 0; i < sizeof(listed) / sizeof(listed[0]); i++)
        assert_true(r.reserved[listed[i] / 8] >> listed[i] % 8 & 1);
    put_setting(dir, "ip_local_port_range", "9 8\n");
    put_setting(dir, "ip_local_reserved_ports", "7,65536-65537\n");
    port_range_read(dir, &r);
    assert_int_equal(r.last, 0);
    assert_int_equal(r.reserved[0], 1u << 7);
    assert_int_equal(r.reserved[8191], 0);
    snprintf(path, sizeof(path), "%s/ip_local_port_range", dir);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/ip_local_reserved_ports", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_of_chosen_ports),
        cmocka_unit_test(every_port_is_tried),
        cmocka_unit_test(a_reserved_port_of_the_kernels_choice),
        cmocka_unit_test(settings_of_the_machine),
    };

    alone = begin_alone();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
