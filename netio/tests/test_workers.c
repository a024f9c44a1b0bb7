/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_workers.c - several processes of one address (workers(N):SPEC): where frames go, who steers
 * next, what dead and hostile workers can do. The interface is a wire, whose other side is the peer.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/workers.h"
#include "../src/workers_look.h"
#include "../src/workers_table.h"
#include "testing.h"

#define SPEC "workers(4):wire:@/w,side=a"
#define PORT 80u

static const uint8_t our_ip[4] = {192, 0, 2, 1}, peer_ip[4] = {192, 0, 2, 2};

/* ---- frames ---- */

struct segment {
    uint8_t bytes[80];
    uint32_t len;
};

static void put16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

/* A TCP segment over IPv4; to_us: from the peer's port to ours, else the other way. */
static struct segment tcp4(int to_us, unsigned our_port, unsigned peer_port, unsigned flags)
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

static struct segment tcp6(int to_us, unsigned our_port, unsigned peer_port, unsigned flags)
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
static struct segment unreachable(unsigned our_port, unsigned peer_port)
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

static struct segment arp(unsigned op, const uint8_t sender[4], const uint8_t target[4])
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
static char group_path[128], claim_name[64];
static struct netio *peer;
static uint64_t now;

static struct netio *open_with(const char *spec, char *err, size_t err_size)
{
    struct netio_config cfg = {.group = &group, .seed = test_seed()};

    memcpy(cfg.ip, our_ip, sizeof(cfg.ip));
    return netio_open(in_folder(spec), &cfg, err, err_size);
}

static struct netio *worker(void)
{
    char err[512] = "";
    struct netio *n = open_with(SPEC, err, sizeof(err));

    if (!n)
        fail_msg("%s", err);
    return n;
}

static void refused(const char *spec, const char *part)
{
    char err[512] = "";
    struct netio *n = open_with(spec, err, sizeof(err));

    if (n)
        fail_msg("%s was opened", spec);
    if (!strstr(err, part))
        fail_msg("%s: '%s' does not contain '%s'", spec, err, part);
}

static struct workers *inside(struct netio *n)
{
    return (struct workers *)n;
}

static uint64_t later(void)
{
    now += 20 * MS; /* more than the time between two checks of the group */
    return now;
}

/* Lets the worker that steers see who is there. */
static void settle(struct netio *steers)
{
    struct netio_frame f;

    assert_int_equal(netio_rx(steers, &f, 1, later()), 0);
}

static void send_frame(struct netio *n, const struct segment *s)
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
static unsigned receive(struct netio *n, struct segment *last)
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
static unsigned arrives_at(const struct segment *s, struct netio *const *w, unsigned count)
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
static unsigned open_flow(unsigned peer_port, struct netio *const *w, unsigned count)
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

static int setup(void **state)
{
    folder_setup(state);
    snprintf(group_path, sizeof(group_path), "%s", in_folder("@/group"));
    snprintf(claim_name, sizeof(claim_name), "toehold-test%s", in_folder("@"));
    group = (struct netio_group){.path = group_path, .claims = {claim_name}};
    now = clock_now();
    peer = open_ok(in_folder("wire:@/w,side=b"));
    return 0;
}

static int teardown(void **state)
{
    netio_close(peer);
    assert_int_not_equal(access(group_path, F_OK), 0); /* the last worker has removed it */
    return folder_teardown(state);
}

/* Opens workers that all serve the port; the first one steers. */
static void open_workers(struct netio **w, unsigned count)
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

static void close_workers(struct netio **w, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        netio_close(w[i]);
}

/* ---- where frames go ---- */

static void new_connections_are_spread_and_stay(void **state)
{
    unsigned of[64], seen[3] = {0}, i;
    struct netio *w[3];

    (void)state;
    open_workers(w, 3);
    for (i = 0; i < 64; i++) {
        of[i] = open_flow(1000 + i, w, 3);
        seen[of[i]]++;
    }
    for (i = 0; i < 3; i++)
        assert_true(seen[i] > 5);
    for (i = 0; i < 3; i++) /* who listens matters no more */
        netio_listens(w[i], 0, PORT, i == 2 ? NETIO_LISTEN_SERVES : NETIO_LISTEN_NOT);
    for (i = 0; i < 64; i++) {
        struct segment data = tcp4(1, PORT, 1000 + i, 0x18), error = unreachable(PORT, 1000 + i);

        assert_int_equal(arrives_at(&data, w, 3), of[i]);
        assert_int_equal(arrives_at(&error, w, 3), of[i]);
    }
    for (i = 0; i < 8; i++)
        assert_int_equal(open_flow(2000 + i, w, 3), 2);
    close_workers(w, 3);
}

static void a_port_goes_to_workers_that_serve_it(void **state)
{
    struct segment syn;
    struct netio *w[3];
    unsigned i;

    (void)state;
    open_workers(w, 3);
    for (i = 0; i < 3; i++) {
        netio_listens(w[i], 0, 81, i == 1 ? NETIO_LISTEN_SERVES : NETIO_LISTEN_WEAK);
        netio_listens(w[i], 1, 82, i == 2 ? NETIO_LISTEN_WEAK : NETIO_LISTEN_NOT);
    }
    for (i = 0; i < 16; i++) {
        syn = tcp4(1, 81, 3000 + i, SEEN_SYN);
        assert_int_equal(arrives_at(&syn, w, 3), 1);
        syn = tcp6(1, 82, 3000 + i, SEEN_SYN);
        assert_int_equal(arrives_at(&syn, w, 3), 2);
        syn = tcp4(1, 82, 3000 + i, SEEN_SYN); /* no listener over IPv4: the stack rejects it */
        assert_int_equal(arrives_at(&syn, w, 3), 0);
    }
    close_workers(w, 3);
}

static void connections_of_ours_are_learned(void **state)
{
    struct segment s, last;
    struct netio *w[2];
    int ip6;

    (void)state;
    open_workers(w, 2);
    for (ip6 = 0; ip6 < 2; ip6++) {
        s = ip6 ? tcp6(0, 40000, 443, SEEN_SYN) : tcp4(0, 40000, 443, SEEN_SYN);
        send_frame(w[1], &s);
        (void)receive(w[0], NULL);
        assert_int_equal(receive(peer, &last), 1);
        assert_memory_equal(last.bytes, s.bytes, s.len);
        s = ip6 ? tcp6(1, 40000, 443, SEEN_SYN | 0x10) : tcp4(1, 40000, 443, SEEN_SYN | 0x10);
        assert_int_equal(arrives_at(&s, w, 2), 1);
    }
    close_workers(w, 2);
}

static void neighbours_are_for_all_and_requests_for_one(void **state)
{
    const struct segment reply = arp(2, peer_ip, our_ip), announced = arp(1, peer_ip, peer_ip);
    const struct segment request = arp(1, peer_ip, our_ip);
    struct netio *w[3];
    unsigned i;

    (void)state;
    open_workers(w, 3);
    send_frame(peer, &reply);
    for (i = 0; i < 3; i++)
        assert_int_equal(receive(w[i], NULL), 1);
    send_frame(peer, &announced);
    for (i = 0; i < 3; i++)
        assert_int_equal(receive(w[i], NULL), 1);
    assert_int_equal(arrives_at(&request, w, 3), 0);
    close_workers(w, 3);
}

static void fragments_of_tcp_are_dropped_and_counted(void **state)
{
    struct segment s = tcp4(1, PORT, 5, 0x10);
    struct netio_stats stats;
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    s.bytes[14 + 6] = 0x20; /* MF */
    send_frame(peer, &s);
    assert_int_equal(receive(w[0], NULL) + receive(w[1], NULL), 0);
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    close_workers(w, 2);
}

/* After a reload, old workers accept no more; they must not get what they would reset. */
static void young_workers_come_first_for_a_while(void **state)
{
    struct netio *w[3];
    unsigned i;

    (void)state;
    open_workers(w, 3);
    for (i = 0; i < 2; i++) /* as if these had joined long before */
        inside(w[0])->g.shm->members[i].joined_ms -= 1500;
    inside(w[0])->g.shm->members[2].joined_ms += 3600 * 1000u;
    for (i = 0; i < 16; i++)
        assert_int_equal(open_flow(6000 + i, w, 3), 2);
    inside(w[0])->g.shm->members[2].joined_ms -= 3600 * 1000u + 2100;
    for (i = 0; i < 2; i++)
        inside(w[0])->g.shm->members[i].joined_ms -= 10000;
    for (i = 0; i < 64 && open_flow(7000 + i, w, 3) == 2; i++)
        ;
    assert_true(i < 64); /* later they share again */
    close_workers(w, 3);
}

static void a_port_pair_used_again_finds_the_listener(void **state)
{
    struct segment fin, syn = tcp4(1, PORT, 9000, SEEN_SYN);
    struct netio *w[2];
    unsigned at, other;

    (void)state;
    open_workers(w, 2);
    at = open_flow(9000, w, 2);
    other = 1 - at;
    fin = tcp4(0, PORT, 9000, SEEN_FIN | 0x10);
    send_frame(w[at], &fin);
    (void)receive(w[0], NULL);
    assert_int_equal(arrives_at(&syn, w, 2), at); /* TIME-WAIT is there */
    netio_listens(w[at], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(arrives_at(&syn, w, 2), other);
    close_workers(w, 2);
}

/* Between old and new workers a port has no listener: peers try again instead of being rejected. */
static void a_port_without_a_listener_for_a_moment(void **state)
{
    struct segment syn = tcp4(1, PORT, 9100, SEEN_SYN), ack = tcp4(1, PORT, 9101, 0x10);
    struct netio_stats stats;
    struct netio *w[2];
    unsigned i;

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    send_frame(peer, &syn);
    assert_int_equal(receive(w[0], NULL), 0); /* is on its way to the other one */
    netio_listens(w[1], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(receive(w[1], NULL), 0);
    netio_get_stats(w[1], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    send_frame(peer, &syn);
    assert_int_equal(receive(w[0], NULL), 0);
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    assert_int_equal(arrives_at(&ack, w, 2), 0); /* of no connection: rejected */
    for (i = 0; i < WORKERS_CLOSED; i++)
        inside(w[0])->g.shm->closed[i].at_ms = 0; /* as if it was long ago */
    assert_int_equal(arrives_at(&syn, w, 2), 0);
    netio_listens(w[1], 0, PORT, NETIO_LISTEN_SERVES);
    assert_int_equal(arrives_at(&syn, w, 2), 1);
    close_workers(w, 2);
}

static void a_full_ring_costs_frames_only(void **state)
{
    struct segment data = tcp4(1, PORT, 1, 0x10);
    struct netio_stats stats;
    struct netio *w[2];
    unsigned i;

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(open_flow(1, w, 2), 1);
    for (i = 0; i < WORKERS_RING + 10; i++) {
        send_frame(peer, &data);
        assert_int_equal(receive(w[0], NULL), 0);
    }
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.rx_dropped, 10);
    assert_int_equal(receive(w[1], NULL), WORKERS_RING);
    for (i = 0; i < WORKERS_RING; i++)
        send_frame(w[1], &data);
    assert_int_equal(netio_tx_alloc(w[1], &(struct netio_frame){0}), -1);
    assert_true(netio_next_event(w[1]) != UINT64_MAX);
    while (workers_waiting(workers_ring(inside(w[0]), 1, WORKERS_TX)))
        (void)receive(w[0], NULL);
    assert_int_equal(receive(peer, NULL), WORKERS_RING);
    close_workers(w, 2);
}

/* ---- who steers ---- */

static void another_worker_takes_over(void **state)
{
    struct segment data = tcp4(1, PORT, 1, 0x10), ours = tcp4(0, PORT, 1, 0x10), last;
    struct netio_info info;
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(open_flow(1, w, 2), 1);
    netio_get_info(w[1], &info);
    assert_non_null(strstr(info.mode, "number 0 steers"));
    assert_int_equal(info.worker, 1);
    assert_int_equal(info.workers, 4);
    send_frame(w[1], &ours); /* waits in the ring */
    netio_close(w[0]);
    assert_int_equal(netio_prepare_sleep(w[1]), 1); /* there is something to do */
    settle(w[1]);
    netio_get_info(w[1], &info);
    assert_non_null(strstr(info.mode, "worker 1 of 4 at most, steers wire"));
    while (!is_linked(peer) || !is_linked(w[1])) {
        now += 20 * MS;
        (void)receive(peer, NULL);
        (void)receive(w[1], NULL);
    }
    send_frame(w[1], &ours);
    assert_true(receive(peer, &last) >= 1);
    assert_memory_equal(last.bytes, ours.bytes, ours.len);
    assert_int_equal(arrives_at(&data, &w[1], 1), 0);
    netio_close(w[1]);
}

/* A child that has joined: writes a byte, then waits for its end. */
static pid_t start_worker(int ready)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    netio_listens(worker(), 0, PORT, NETIO_LISTEN_SERVES);
    (void)!write(ready, "", 1);
    for (;;)
        pause();
}

static void wait_for(int fd)
{
    char byte;

    assert_int_equal(read(fd, &byte, 1), 1);
}

static void kill_worker(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_killed_worker_is_noticed(void **state)
{
    struct segment syn;
    struct netio *w;
    int ready[2];
    unsigned i;
    pid_t pid;

    (void)state;
    open_workers(&w, 1);
    assert_int_equal(pipe(ready), 0);
    pid = start_worker(ready[1]);
    wait_for(ready[0]);
    settle(w);
    assert_int_equal(inside(w)->alive, 3);
    kill_worker(pid);
    settle(w);
    assert_int_equal(inside(w)->alive, 1);
    for (i = 0; i < 16; i++) {
        syn = tcp4(1, PORT, 100 + i, SEEN_SYN);
        assert_int_equal(arrives_at(&syn, &w, 1), 0);
    }
    netio_listens(w, 0, PORT, NETIO_LISTEN_NOT); /* a server starts a worker for the dead one */
    send_frame(peer, &syn);
    assert_int_equal(receive(w, NULL), 0);
    netio_close(w);
    close(ready[0]);
    close(ready[1]);
}

static void a_killed_worker_that_steers_is_replaced(void **state)
{
    struct pollfd p = {.events = POLLIN};
    struct netio_frame f;
    struct netio *w;
    int ready[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid = start_worker(ready[1]);
    wait_for(ready[0]);
    w = worker();
    assert_int_equal(inside(w)->steers, 0);
    assert_int_equal(netio_prepare_sleep(w), 0);
    p.fd = netio_fd(w);
    assert_int_equal(poll(&p, 1, 0), 0);
    kill_worker(pid);
    assert_int_equal(poll(&p, 1, 60000), 1); /* its end wakes this one */
    assert_int_equal(netio_rx(w, &f, 1, later()), 0);
    assert_int_equal(inside(w)->steers, 1);
    netio_close(w);
    close(ready[0]);
    close(ready[1]);
}

/* A child of fork() that lives on must not keep the claim of its parent. */
static void a_forked_child_keeps_no_claim(void **state)
{
    struct netio *w;
    int ready[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    w = worker();
    pid = fork();
    if (!pid) {
        netio_forget(w);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    wait_for(ready[0]);
    netio_close(w);
    w = worker();
    assert_int_equal(inside(w)->g.number, 0);
    assert_int_equal(inside(w)->steers, 1);
    netio_close(w);
    kill_worker(pid);
    close(ready[0]);
    close(ready[1]);
}

static void sleepers_are_woken(void **state)
{
    struct segment syn = tcp4(1, PORT, 1, SEEN_SYN), answer = tcp4(0, PORT, 1, SEEN_SYN | 0x10);
    struct pollfd p = {.events = POLLIN};
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(netio_prepare_sleep(w[1]), 0);
    p.fd = netio_fd(w[1]);
    assert_int_equal(poll(&p, 1, 0), 0);
    send_frame(peer, &syn);
    assert_int_equal(receive(w[0], NULL), 0);
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(netio_prepare_sleep(w[1]), 1);
    assert_int_equal(receive(w[1], NULL), 1);
    assert_int_equal(netio_prepare_sleep(w[0]), 0);
    p.fd = netio_fd(w[0]);
    assert_int_equal(poll(&p, 1, 0), 0);
    send_frame(w[1], &answer);
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(netio_prepare_sleep(w[0]), 1);
    close_workers(w, 2);
}

/* ---- wrong input, and workers that misbehave ---- */

static void what_does_not_fit_is_refused(void **state)
{
    struct netio *w;

    (void)state;
    open_fails("workers(4):wire:x,side=a", "only for an engine within a program");
    refused("workers():wire:@/w,side=a", "workers(): write workers(N):SPEC, N from 2 to 64");
    refused("workers(1):wire:@/w,side=a", "workers(1): write");
    refused("workers(65):wire:@/w,side=a", "workers(65): write");
    refused("workers(2x):wire:@/w,side=a", "workers(2x): write");
    refused("workers(2)wire:@/w,side=a", "write workers(N):SPEC");
    refused("workers(2):workers(2):wire:@/w,side=a", "not with --ip shared, within itself");
    refused("workers(2):nothing:x", "unknown kind 'nothing'");
    w = worker();
    refused("workers(5):wire:@/w,side=a", "another number in workers()");
    refused("workers(4):wire:@/x,side=a", "another interface or address");
    netio_close(w);
}

static void no_more_workers_than_announced(void **state)
{
    struct netio *w[4];

    (void)state;
    open_workers(w, 4);
    refused(SPEC, "there are 4 already");
    netio_close(w[2]);
    w[2] = worker();
    assert_int_equal(inside(w[2])->g.number, 2);
    close_workers(w, 4);
}

static void a_strange_file_is_refused(void **state)
{
    FILE *f = fopen(group_path, "we");

    (void)state;
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(group_path, 0666), 0);
    refused(SPEC, "its mode is not 0600");
    assert_int_equal(unlink(group_path), 0);
    assert_int_equal(symlink("/dev/null", group_path), 0);
    refused(SPEC, group_path);
    assert_int_equal(unlink(group_path), 0);
}

/* Another program with the claim, which is no worker. */
static void a_claim_of_others_is_respected(void **state)
{
    struct group other = {.claim_count = 1, .claim_fd = {-1, -1, -1}};
    char words[64];

    (void)state;
    snprintf(other.claims[0], sizeof(other.claims[0]), "%s", claim_name);
    assert_int_equal(group_claim(&other), 0);
    snprintf(words, sizeof(words), "already served by process %d", getpid());
    refused(SPEC, words);
    group_unclaim(&other);
}

static void false_indices_and_lengths_cost_frames_only(void **state)
{
    struct segment syn = tcp4(1, PORT, 1, SEEN_SYN), data = tcp4(1, PORT, 1, 0x10);
    struct workers_ring *rx, *tx;
    struct netio_stats stats;
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(open_flow(1, w, 2), 1);
    rx = workers_ring(inside(w[1]), 1, WORKERS_RX);
    tx = workers_ring(inside(w[1]), 1, WORKERS_TX);
    atomic_fetch_add(&tx->head, 5 * WORKERS_RING);
    assert_int_equal(receive(w[0], NULL), 0);
    atomic_fetch_sub(&tx->head, 5 * WORKERS_RING - 1);
    atomic_store(&tx->slots[(tx->head - 1) % WORKERS_RING].len, UINT32_MAX);
    assert_int_equal(receive(w[0], NULL), 0);
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.tx_dropped, 1);
    assert_int_equal(receive(peer, NULL), 0);
    send_frame(peer, &data);
    assert_int_equal(receive(w[0], NULL), 0);
    atomic_store(&rx->slots[(rx->head - 1) % WORKERS_RING].len, 13);
    assert_int_equal(receive(w[1], NULL), 0);
    netio_get_stats(w[1], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    assert_int_equal(arrives_at(&syn, w, 2), 1);
    close_workers(w, 2);
}

/* ---- the table, and frames cut short ---- */

static struct workers_shm shm;

static void the_table_replaces_what_is_least_useful(void **state)
{
    /* 17 hashes of one place; the table has 16 for them */
    uint64_t base = 512, step = (uint64_t)1 << 40;
    unsigned i;

    (void)state;
    memset(&shm, 0, sizeof(shm));
    for (i = 1; i <= 16; i++)
        table_learn(&shm, base + i * step, i, UINT64_MAX, 10000);
    for (i = 1; i <= 16; i++)
        assert_int_equal(table_worker(table_find(&shm, base + i * step, i == 5 ? 10000 : 20000)), i);
    table_learn(&shm, base + 17 * step, 17, UINT64_MAX, 20000); /* the one not used since */
    assert_null(table_find(&shm, base + 5 * step, 20000));
    table_learn(&shm, base + 18 * step, 18, ~(uint64_t)(1 << 7), 20000); /* of a dead worker */
    assert_null(table_find(&shm, base + 7 * step, 20000));
    table_close(table_find(&shm, base + 9 * step, 20000));
    assert_true(table_is_closed(table_find(&shm, base + 9 * step, 20000)));
    table_learn(&shm, base + 19 * step, 19, ~(uint64_t)(1 << 8), 20000); /* one that has ended */
    assert_null(table_find(&shm, base + 9 * step, 20000));
    assert_int_equal(table_worker(table_find(&shm, base + 8 * step, 20000)), 8);
    table_learn(&shm, base + 8 * step, 3, UINT64_MAX, 20000); /* the same addresses again */
    assert_int_equal(table_worker(table_find(&shm, base + 8 * step, 20000)), 3);
}

static void frames_of_any_length_are_looked_at(void **state)
{
    static const uint64_t key[2] = {1, 2};
    const struct segment of[] = {tcp4(1, 1, 2, 2), tcp6(1, 1, 2, 2), unreachable(1, 2),
                                 arp(2, peer_ip, our_ip)};
    const uint32_t whole[] = {48, 68, 66, 42}; /* from this length on it is understood */
    unsigned i, len;
    struct seen s;

    (void)state;
    for (i = 0; i < 4; i++)
        for (len = 0; len <= of[i].len; len++) {
            uint8_t *exact = malloc(len ? len : 1); /* a sanitizer sees what is read beyond it */

            assert_non_null(exact);
            memcpy(exact, of[i].bytes, len);
            workers_look(exact, len, 0, key, &s);
            assert_int_equal(s.kind != SEEN_ANY, len >= whole[i]);
            free(exact);
        }
}

static void both_directions_and_tags_have_one_hash(void **state)
{
    static const uint64_t key[2] = {1, 2};
    struct segment in = tcp4(1, 80, 999, 0x10), out = tcp4(0, 80, 999, SEEN_FIN), tagged = in;
    struct seen a, b;

    (void)state;
    workers_look(in.bytes, in.len, 0, key, &a);
    workers_look(out.bytes, out.len, 1, key, &b);
    assert_int_equal(a.kind, SEEN_FLOW);
    assert_int_equal(b.kind, SEEN_FLOW);
    assert_true(a.hash == b.hash);
    assert_int_equal(a.port, 80);
    memcpy(tagged.bytes + 16, in.bytes + 12, in.len - 12);
    put16(tagged.bytes + 12, 0x8100);
    workers_look(tagged.bytes, in.len + 4, 0, key, &b);
    assert_true(a.hash == b.hash);
    out = tcp4(0, 80, 999, 0x10); /* of sent segments, only the first and the last ones */
    workers_look(out.bytes, out.len, 1, key, &b);
    assert_int_equal(b.kind, SEEN_ANY);
    in = tcp4(1, 80, 998, 0x10);
    workers_look(in.bytes, in.len, 0, key, &b);
    assert_true(a.hash != b.hash);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_connections_are_spread_and_stay),
        TEST(a_port_goes_to_workers_that_serve_it),
        TEST(connections_of_ours_are_learned),
        TEST(neighbours_are_for_all_and_requests_for_one),
        TEST(fragments_of_tcp_are_dropped_and_counted),
        TEST(young_workers_come_first_for_a_while),
        TEST(a_port_pair_used_again_finds_the_listener),
        TEST(a_port_without_a_listener_for_a_moment),
        TEST(a_full_ring_costs_frames_only),
        TEST(another_worker_takes_over),
        TEST(a_killed_worker_is_noticed),
        TEST(a_killed_worker_that_steers_is_replaced),
        TEST(a_forked_child_keeps_no_claim),
        TEST(sleepers_are_woken),
        TEST(what_does_not_fit_is_refused),
        TEST(no_more_workers_than_announced),
        TEST(a_strange_file_is_refused),
        TEST(a_claim_of_others_is_respected),
        TEST(false_indices_and_lengths_cost_frames_only),
        cmocka_unit_test(the_table_replaces_what_is_least_useful),
        cmocka_unit_test(frames_of_any_length_are_looked_at),
        cmocka_unit_test(both_directions_and_tags_have_one_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
