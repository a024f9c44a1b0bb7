/* SPDX-License-Identifier: Apache-2.0 */
/* several.c - several workers in one process (several.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "several.h"

const uint8_t our_ip[4] = {192, 0, 2, 1}, peer_ip[4] = {192, 0, 2, 2};

/* ---- frames ---- */

void put16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

/* A TCP segment over IPv4; to_us: from the peer's port to ours, else the other way. */
struct segment tcp4(int to_us, unsigned our_port, unsigned peer_port, unsigned flags)
{
    struct segment s = {.len = 54};
    uint8_t *ip = s.bytes + 14;

    put16(s.bytes + 12, 0x0800);
    ip[0] = 0x45;
    put16(ip + 2, 40);
    ip[8] = 64;
    ip[9] = 6;
    memcpy(ip + 12, to_us ? peer_ip : our_ip, 4);
    memcpy(ip + 16, to_us ? our_ip : peer_ip, 4);
    put16(ip + 20, to_us ? peer_port : our_port);
    put16(ip + 22, to_us ? our_port : peer_port);
    ip[32] = 0x50;
    ip[33] = (uint8_t)flags;
    return s;
}

struct segment tcp6(int to_us, unsigned our_port, unsigned peer_port, unsigned flags)
{
    struct segment s = {.len = 74};
    uint8_t *ip = s.bytes + 14;

    put16(s.bytes + 12, 0x86dd);
    ip[0] = 0x60;
    ip[6] = 6;
    ip[8 + 15] = to_us ? 2 : 1;
    ip[24 + 15] = to_us ? 1 : 2;
    put16(ip + 40, to_us ? peer_port : our_port);
    put16(ip + 42, to_us ? our_port : peer_port);
    ip[53] = (uint8_t)flags;
    return s;
}

/* An ICMP error from the peer about our segment. */
struct segment unreachable(unsigned our_port, unsigned peer_port)
{
    struct segment s = {.len = 14 + 20 + 8 + 28}, quoted = tcp4(0, our_port, peer_port, 0x10);
    uint8_t *ip = s.bytes + 14;

    put16(s.bytes + 12, 0x0800);
    ip[0] = 0x45;
    ip[9] = 1;
    ip[20] = 3;
    memcpy(ip + 28, quoted.bytes + 14, 28);
    return s;
}

struct segment arp(unsigned op, const uint8_t sender[4], const uint8_t target[4])
{
    struct segment s = {.len = 60};

    put16(s.bytes + 12, 0x0806);
    put16(s.bytes + 20, op);
    memcpy(s.bytes + 28, sender, 4);
    memcpy(s.bytes + 38, target, 4);
    return s;
}

/* ---- workers ---- */

static struct netio_group group;
char group_path[128], claim_name[64];
struct netio *peer;
uint64_t now;

static struct netio *open_with(const char *spec, char *err, size_t err_size)
{
    struct netio_config cfg = {.group = &group, .seed = test_seed()};

    memcpy(cfg.ip, our_ip, sizeof(cfg.ip));
    return netio_open(in_folder(spec), &cfg, err, err_size);
}

struct netio *worker(void)
{
    char err[512] = "";
    struct netio *n = open_with(SPEC, err, sizeof(err));

    if (!n)
        fail_msg("%s", err);
    return n;
}

void refused(const char *spec, const char *part)
{
    char err[512] = "";
    struct netio *n = open_with(spec, err, sizeof(err));

    if (n)
        fail_msg("%s was opened", spec);
    if (!strstr(err, part))
        fail_msg("%s: '%s' does not contain '%s'", spec, err, part);
}

struct workers *inside(struct netio *n)
{
    return (struct workers *)n;
}

uint64_t later(void)
{
    now += 20 * MS; /* more than the time between two checks of the group */
    return now;
}

/* Lets the worker that steers see who is there. */
void settle(struct netio *steers)
{
    struct netio_frame f;

    assert_int_equal(netio_rx(steers, &f, 1, later()), 0);
}

void send_frame(struct netio *n, const struct segment *s)
{
    struct netio_frame f;

    assert_int_equal(netio_tx_alloc(n, &f), 0);
    assert_true(f.cap >= s->len);
    memcpy(f.data, s->bytes, s->len);
    f.len = s->len;
    f.flags &= NETIO_F_L4_CSUM_OK;
    netio_tx_submit(n, &f, now);
    netio_tx_flush(n, now);
}

/* Receives all frames that wait; returns how many. last: a copy of the last one. */
unsigned receive(struct netio *n, struct segment *last)
{
    struct netio_frame f[8];
    unsigned count = 0, got, i;

    while ((got = netio_rx(n, f, 8, now))) {
        for (i = 0; last && i < got; i++) {
            last->len = f[i].len;
            memcpy(last->bytes, f[i].data, f[i].len < 80 ? f[i].len : 80);
        }
        netio_rx_release(n, f, got);
        count += got;
    }
    return count;
}

/* Has the peer send a segment. Returns which of the workers gets it: exactly one must. */
unsigned arrives_at(const struct segment *s, struct netio *const *w, unsigned count)
{
    struct segment last = {.len = 0};
    unsigned at = count, i;

    send_frame(peer, s);
    for (i = 0; i < count; i++) { /* the one that steers first */
        unsigned n = receive(w[i], &last);

        if (!n)
            continue;
        assert_int_equal(n, 1);
        assert_int_equal(at, count);
        assert_int_equal(last.len, s->len);
        assert_memory_equal(last.bytes, s->bytes, s->len);
        at = i;
    }
    assert_true(at < count);
    return at;
}

/* Opens a connection from the peer. Returns which worker has it. */
unsigned open_flow(unsigned peer_port, struct netio *const *w, unsigned count)
{
    struct segment syn = tcp4(1, PORT, peer_port, SEEN_SYN), last;
    struct segment answer = tcp4(0, PORT, peer_port, SEEN_SYN | 0x10);
    unsigned at = arrives_at(&syn, w, count);

    send_frame(w[at], &answer);
    (void)receive(w[0], NULL); /* forwards it */
    assert_int_equal(receive(peer, &last), 1);
    assert_memory_equal(last.bytes, answer.bytes, answer.len);
    return at;
}

int group_setup(void **state)
{
    folder_setup(state);
    snprintf(group_path, sizeof(group_path), "%s", in_folder("@/group"));
    snprintf(claim_name, sizeof(claim_name), "toehold-test%s", in_folder("@"));
    group = (struct netio_group){.path = group_path, .claims = {claim_name}};
    now = clock_now();
    peer = open_ok(in_folder("wire:@/w,side=b"));
    return 0;
}

int group_teardown(void **state)
{
    netio_close(peer);
    assert_int_not_equal(access(group_path, F_OK), 0); /* the last worker has removed it */
    return folder_teardown(state);
}

/* Opens workers that all serve the port; the first one steers. */
void open_workers(struct netio **w, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        w[i] = worker();
        netio_listens(w[i], 0, PORT, NETIO_LISTEN_SERVES);
        /* of one age, however long this process was not run */
        inside(w[i])->g.shm->members[i].joined_ms = inside(w[0])->g.shm->members[0].joined_ms;
    }
    while (!is_linked(peer)) {
        (void)receive(w[0], NULL);
        now += 20 * MS;
        (void)receive(peer, NULL);
    }
    settle(w[0]);
}

void close_workers(struct netio **w, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        netio_close(w[i]);
}
