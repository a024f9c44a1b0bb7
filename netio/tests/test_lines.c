/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lines.c - queues of different cores have no cache line in common, made one after the other
 * by one thread as toed makes them (owned.h; SEEDS S4.5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <toe/netio.h>

#include "owned.h"

static char folder[] = "/tmp/toe-lines-XXXXXX";

/* Two of a kind, which send a frame each; %s: the folder, %u: the number of the queue. */
static void two_of(const char *format)
{
    const struct netio_config cfg = {.ip = {10, 0, 0, 1}};
    struct netio *n[2];
    struct netio_frame f;
    char spec[256], err[256];
    unsigned i;

    owned_begin(OWNED_LINES);
    for (i = 0; i < 2; i++) {
        owned_by(i + 1);
        snprintf(spec, sizeof(spec), format, folder, i, folder, i);
        n[i] = netio_open(spec, &cfg, err, sizeof(err));
        if (!n[i])
            fail_msg("%s: %s", spec, err);
    }
    for (i = 0; i < 2; i++) {
        owned_by(i + 1);
        assert_int_equal(netio_tx_alloc(n[i], &f), 0);
        memset(f.data, 0xff, 60);
        f.len = 60;
        f.flags = 0;
        netio_tx_submit(n[i], &f, 1000);
        netio_tx_flush(n[i], 1000);
        (void)netio_rx(n[i], &f, 1, 2000);
    }
    assert_true(owned_ranges(1) > 0 && owned_ranges(2) == owned_ranges(1));
    assert_int_equal(owned_conflicts(), 0);
    for (i = 0; i < 2; i++) {
        owned_by(i + 1);
        netio_close(n[i]);
    }
    owned_end();
}

static void test_wires(void **state)
{
    (void)state;
    two_of("wire:%s/wire%u");
}

static void test_files(void **state)
{
    (void)state;
    two_of("pcap:out=%s/out%u.pcap");
}

static void test_what_stands_in_front(void **state)
{
    (void)state;
    two_of("impair(loss=1,delay=1us):wire:%s/impaired%u");
    two_of("tee(%s/tee%u.pcap):wire:%s/teed%u");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"wire0",     "wire1",     "out0.pcap", "out1.pcap",
                                        "impaired0", "impaired1", "teed0",     "teed1",
                                        "tee0.pcap", "tee1.pcap"};
    char path[128];
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wires),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_what_stands_in_front),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
