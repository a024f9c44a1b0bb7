/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testing.c - shared by the unit tests of netio.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../device/tests/seed.h"
#include "testing.h"

#define HEADER 14

static char folder[64];

struct netio *open_ok(const char *spec)
{
    const struct netio_config cfg = {.ip = {192, 0, 2, 1}, .seed = test_seed()};
    char err[512] = "";
    struct netio *n = netio_open(spec, &cfg, err, sizeof(err));

    if (!n)
        fail_msg("%s: %s", spec, err);
    return n;
}

void open_fails(const char *spec, const char *part)
{
    const struct netio_config cfg = {.ip = {192, 0, 2, 1}};
    char err[512] = "";
    struct netio *n = netio_open(spec, &cfg, err, sizeof(err));

    if (n)
        fail_msg("%s was opened", spec);
    if (!strstr(err, part))
        fail_msg("%s: '%s' does not contain '%s'", spec, err, part);
}

int send_number(struct netio *n, uint32_t number, uint32_t len, uint64_t now_ns)
{
    struct netio_frame f;

    if (netio_tx_alloc(n, &f))
        return -1;
    assert_true(f.cap >= len);
    memset(f.data, 0x5a, len);
    memcpy(f.data + HEADER, &number, sizeof(number));
    f.len = len;
    netio_tx_submit(n, &f, now_ns);
    netio_tx_flush(n, now_ns);
    return 0;
}

uint32_t frame_number(const struct netio_frame *f)
{
    uint32_t number;

    memcpy(&number, f->data + HEADER, sizeof(number));
    return number;
}

int64_t receive_number(struct netio *n, uint64_t now_ns)
{
    struct netio_frame f;
    int64_t number;

    if (netio_rx(n, &f, 1, now_ns) != 1)
        return -1;
    number = frame_number(&f);
    netio_rx_release(n, &f, 1);
    return number;
}

const char *make_folder(void)
{
    snprintf(folder, sizeof(folder), "/tmp/netio-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

void remove_folder(void)
{
    DIR *d = opendir(folder);
    struct dirent *e;

    assert_non_null(d);
    while ((e = readdir(d)))
        if (e->d_name[0] != '.')
            (void)unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    assert_int_equal(rmdir(folder), 0);
}

const char *in_folder(const char *text)
{
    static char buffers[8][512];
    static unsigned next;
    char *buffer = buffers[next++ % 8];
    size_t used = 0;

    for (; *text; text++) {
        const char *piece = *text == '@' ? folder : (char[2]){*text, '\0'};

        assert_true(used + strlen(piece) < sizeof(buffers[0]));
        used += (size_t)sprintf(buffer + used, "%s", piece);
    }
    return buffer;
}

uint64_t test_seed(void)
{
    static int known;
    static uint64_t seed;

    if (!known++)
        seed = seed_of_run(20260, UINT64_MAX);
    return seed;
}

int folder_setup(void **state)
{
    (void)state;
    make_folder();
    return 0;
}

int folder_teardown(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

uint64_t clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int is_linked(struct netio *n)
{
    struct netio_info info;

    netio_get_info(n, &info);
    return strstr(info.mode, "linked") != NULL;
}

void wait_linked(struct netio *n, int linked)
{
    unsigned tries = 0;

    while (is_linked(n) != linked) {
        assert_int_equal(netio_rx(n, NULL, 0, clock_now()), 0);
        usleep(1000);
        assert_true(++tries < 20000);
    }
}
