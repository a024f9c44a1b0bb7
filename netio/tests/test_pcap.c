/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pcap.c - frames to files and back, to the nanosecond.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "testing.h"

#define START UINT64_C(1700000000123456789)

/* Frame i has 60 + i bytes and is sent at START + i * i * 1001 ns. */
static uint64_t stamp(uint32_t i)
{
    return START + (uint64_t)i * i * 1001;
}

static void write_frames(uint32_t count)
{
    struct netio *n = open_ok(in_folder("pcap:out=@/f.pcap"));
    uint32_t i;

    for (i = 0; i < count; i++)
        assert_int_equal(send_number(n, i, 60 + i, stamp(i)), 0);
    netio_close(n);
}

static void what_is_written_has_nanoseconds(void **state)
{
    char reason[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *data;
    pcap_t *p;
    uint32_t i;

    (void)state;
    write_frames(100);
    p = pcap_open_offline_with_tstamp_precision(in_folder("@/f.pcap"), PCAP_TSTAMP_PRECISION_NANO,
                                                reason);
    assert_non_null(p);
    for (i = 0; i < 100; i++) {
        assert_int_equal(pcap_next_ex(p, &header, &data), 1);
        assert_int_equal(header->caplen, 60 + i);
        assert_int_equal((uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec,
                         stamp(i));
    }
    assert_int_equal(pcap_next_ex(p, &header, &data), PCAP_ERROR_BREAK);
    pcap_close(p);
}

/* The owner of the directory cannot make a privileged process empty a file elsewhere. */
static void links_are_not_written_through(void **state)
{
    char target[256];
    struct stat st;
    FILE *f;

    (void)state;
    f = fopen(in_folder("@/precious"), "w");
    assert_non_null(f);
    fputs("precious", f);
    fclose(f);
    assert_int_equal(symlink("precious", in_folder("@/link.pcap")), 0);
    open_fails(in_folder("pcap:out=@/link.pcap"), "it is a symbolic link");
    open_fails(in_folder("tee(@/link.pcap):pcap:out=/dev/null"), "it is a symbolic link");
    assert_int_equal(unlink(in_folder("@/link.pcap")), 0);
    snprintf(target, sizeof(target), "%s", in_folder("@/precious"));
    assert_int_equal(link(target, in_folder("@/link.pcap")), 0);
    open_fails(in_folder("pcap:out=@/link.pcap"), "hard links");
    assert_int_equal(stat(in_folder("@/precious"), &st), 0);
    assert_int_equal(st.st_size, 8);
}

static void replay_as_asked(void **state)
{
    struct netio_frame frames[64];
    struct netio_stats stats;
    struct netio *n;
    uint32_t got = 0;
    unsigned count, i;

    (void)state;
    write_frames(1000);
    n = open_ok(in_folder("pcap:in=@/f.pcap"));
    assert_int_equal(netio_prepare_sleep(n), 1);
    while ((count = netio_rx(n, frames, 64, 0)) > 0) {
        for (i = 0; i < count; i++, got++) {
            assert_int_equal(frame_number(&frames[i]), got);
            assert_int_equal(frames[i].len, 60 + got);
        }
        netio_rx_release(n, frames, count);
    }
    assert_int_equal(got, 1000);
    assert_int_equal(netio_prepare_sleep(n), 0);
    assert_int_equal(netio_next_event(n), UINT64_MAX);
    netio_get_stats(n, &stats);
    assert_int_equal(stats.rx_frames, 1000);
    assert_int_equal(stats.rx_dropped, 0);
    netio_close(n);
}

static void replay_at_the_recorded_pace(void **state)
{
    struct netio *n;
    uint32_t i;

    (void)state;
    write_frames(50);
    n = open_ok(in_folder("pcap:in=@/f.pcap,pace=recorded"));
    assert_int_equal(receive_number(n, 5000), 0);
    for (i = 1; i < 50; i++) {
        uint64_t due = 5000 + stamp(i) - START;

        assert_int_equal(netio_next_event(n), due);
        assert_int_equal(receive_number(n, due - 1), -1);
        assert_int_equal(receive_number(n, due), i);
    }
    assert_int_equal(receive_number(n, UINT64_MAX - 1), -1);
    netio_close(n);
}

static void held_frames_bound_the_replay(void **state)
{
    static struct netio_frame frames[1000];
    struct netio *n;
    unsigned first, second;

    (void)state;
    write_frames(1000);
    n = open_ok(in_folder("pcap:in=@/f.pcap"));
    first = netio_rx(n, frames, 1000, 0);
    assert_in_range(first, 1, 999);
    assert_int_equal(netio_rx(n, frames + first, 1000 - first, 0), 0);
    netio_rx_release(n, frames, first);
    second = netio_rx(n, frames, 1000, 0);
    assert_int_equal(frame_number(&frames[0]), first);
    netio_rx_release(n, frames, second);
    netio_close(n);
}

static void a_broken_file_ends_the_replay_and_is_counted(void **state)
{
    struct netio_stats stats;
    struct netio *n;
    FILE *f;
    long size;
    uint32_t i;

    (void)state;
    write_frames(10);
    f = fopen(in_folder("@/f.pcap"), "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    fclose(f);
    assert_int_equal(truncate(in_folder("@/f.pcap"), size - 20), 0);
    n = open_ok(in_folder("pcap:in=@/f.pcap"));
    for (i = 0; i < 9; i++)
        assert_int_equal(receive_number(n, 0), i);
    assert_int_equal(receive_number(n, 0), -1);
    netio_get_stats(n, &stats);
    assert_int_equal(stats.rx_dropped, 1);
    netio_close(n);
}

static void a_file_of_something_else_is_refused(void **state)
{
    FILE *f = fopen(in_folder("@/f.pcap"), "w");

    (void)state;
    assert_non_null(f);
    fputs("this is not a capture, but long enough to look at", f);
    fclose(f);
    open_fails(in_folder("pcap:in=@/f.pcap"), "cannot read in=");
    open_fails(in_folder("pcap:in=@/none"), "No such file");
}

static void no_space_is_counted(void **state)
{
    struct netio_stats stats;
    struct netio *n = open_ok("pcap:out=/dev/full");
    uint32_t i;

    (void)state;
    for (i = 0; i < 1000; i++)
        assert_int_equal(send_number(n, i, 1000, i), 0);
    netio_get_stats(n, &stats);
    assert_true(stats.tx_dropped > 900);
    netio_close(n);
}

static void tee_records_both_directions(void **state)
{
    struct netio *n;
    uint64_t t;
    uint32_t i;

    (void)state;
    write_frames(20);
    n = open_ok(in_folder("tee(@/both.pcap):pcap:in=@/f.pcap,out=/dev/null"));
    for (i = 0, t = START; i < 20; i++, t += 2) {
        assert_int_equal(receive_number(n, t), i);
        assert_int_equal(send_number(n, 100 + i, 60, t + 1), 0);
    }
    netio_close(n);
    n = open_ok(in_folder("pcap:in=@/both.pcap,pace=recorded"));
    for (i = 0, t = 0; i < 20; i++, t += 2) {
        assert_int_equal(receive_number(n, t), i);
        assert_int_equal(receive_number(n, t), -1);
        assert_int_equal(receive_number(n, t + 1), 100 + i);
    }
    netio_close(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(what_is_written_has_nanoseconds),
        WITH_FOLDER(links_are_not_written_through),
        WITH_FOLDER(replay_as_asked),
        WITH_FOLDER(replay_at_the_recorded_pace),
        WITH_FOLDER(held_frames_bound_the_replay),
        WITH_FOLDER(a_broken_file_ends_the_replay_and_is_counted),
        WITH_FOLDER(a_file_of_something_else_is_refused),
        WITH_FOLDER(no_space_is_counted),
        WITH_FOLDER(tee_records_both_directions),
    };

    return cmocka_run_group_tests_name("netio pcap", tests, NULL, NULL);
}
