/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_virtual.c - core/, engine/ and libtoe in virtual time: the same seed gives the same packets,
 * hours cost nothing, and two such stacks talk to each other over a wire that loses.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../device/tests/seed.h"
#include "stack.h"

#define SERVER_IP "192.168.0.10"
#define PEER_IP   "192.0.2.1"
#define PORT      8080

static const char *library;
static unsigned seed;

static int listener(const struct stack *s, const char *ip)
{
    struct sockaddr a;
    int fd = s->t.socket(s->t.userdata, AF_INET, SOCK_STREAM, 0), on = 1;

    assert_true(fd >= 0);
    s->t.setsockopt(s->t.userdata, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    stack_address(&a, ip, PORT);
    assert_int_equal(s->t.bind(s->t.userdata, fd, &a, sizeof(a)), 0);
    assert_int_equal(s->t.listen(s->t.userdata, fd, 8), 0);
    return fd;
}

static struct segment want_segment(const struct stack *s, uint64_t *at)
{
    uint8_t packet[2048];
    size_t n = s->receive(packet, sizeof(packet), TOEVT_NEVER, at);

    assert_true(n >= 40);
    return segment_read(packet, n);
}

static void say(const struct stack *s, struct segment g)
{
    uint8_t packet[2048];

    g.sport = 40000;
    g.dport = PORT;
    assert_int_equal(s->send(packet, segment_write(packet, PEER_IP, SERVER_IP, &g)), 0);
}

/* A connection from a peer that is this test. *iss: what the stack began with. */
static int accepted(const struct stack *s, int fd, uint32_t *iss)
{
    struct segment g;
    uint64_t at;
    int r;

    say(s, (struct segment){.seq = 0, .flags = SYN, .window = 65535});
    g = want_segment(s, &at);
    assert_int_equal(g.flags, SYN | ACK);
    *iss = g.seq;
    say(s, (struct segment){.seq = 1, .ack = *iss + 1, .flags = ACK, .window = 65535});
    r = s->t.accept(s->t.userdata, fd, NULL, NULL);
    assert_true(r >= 0);
    return r;
}

static void close_both(const struct stack *s, int a, int b)
{
    assert_int_equal(s->t.close(s->t.userdata, a), 0);
    assert_int_equal(s->t.close(s->t.userdata, b), 0);
}

/* Data that the peer does not acknowledge, for a minute. */
static uint64_t trace_of_a_minute(const char *flags, uint32_t *iss)
{
    struct stack s;
    uint8_t data[3000] = {1};
    uint64_t trace;
    int fd, conn;

    stack_load(&s, library, flags);
    fd = listener(&s, SERVER_IP);
    conn = accepted(&s, fd, iss);
    assert_int_equal(s.t.write(s.t.userdata, conn, data, sizeof(data)), sizeof(data));
    s.run(s.now() + 60 * SECOND);
    trace = s.trace();
    close_both(&s, fd, conn);
    stack_free(&s);
    return trace;
}

static void same_seed_same_trace(void **state)
{
    uint32_t one, two, three;
    uint64_t a = trace_of_a_minute("seed=1", &one), b = trace_of_a_minute("seed=1", &two);
    uint64_t c = trace_of_a_minute("seed=2", &three);

    (void)state;
    assert_true(a == b);
    assert_int_equal(one, two);
    assert_true(a != c);
    assert_int_not_equal(one, three);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* RFC 1122 4.2.3.6: a probe after two hours of silence, nine in all, 75 s apart; then the end. */
static void keepalive_over_two_hours(void **state)
{
    struct stack s;
    struct segment g;
    uint64_t at, last;
    uint32_t iss;
    int fd, conn, on = 1, probes = 0;
    double cpu = cpu_seconds();
    char byte;

    (void)state;
    stack_load(&s, library, "");
    fd = listener(&s, SERVER_IP);
    conn = accepted(&s, fd, &iss);
    assert_int_equal(s.t.setsockopt(s.t.userdata, conn, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)),
                     0);
    last = s.now();
    for (;; probes++) {
        g = want_segment(&s, &at);
        if (g.flags & RST)
            break;
        assert_int_equal(g.flags, ACK);
        assert_int_equal(g.seq, iss);
        assert_in_range(at - last, (probes ? 75 : 7200) * SECOND - 10 * MS,
                        (probes ? 75 : 7200) * SECOND + 10 * MS);
        last = at;
    }
    assert_int_equal(probes, 9);
    assert_int_equal(s.t.read(s.t.userdata, conn, &byte, 1), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(cpu_seconds() - cpu < 1.0); /* milliseconds; a bound for sanitizers */
    close_both(&s, fd, conn);
    stack_free(&s);
}

/* ---- two stacks ---- */

#define BYTES (1u << 20)
#define DELAY (5 * MS)
#define WIRE  4096u

struct flight {
    uint64_t at;
    struct stack *to;
    size_t n;
    uint8_t packet[1600];
};

struct pair {
    struct stack a, b;
    struct flight *wire; /* oldest first; the delay is the same for all */
    unsigned first, count, lost, seen;
    uint64_t random, now;
};

static uint32_t draw(struct pair *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (uint32_t)(p->random >> 32);
}

static void take_packets(struct pair *p, struct stack *from, struct stack *to)
{
    struct flight f = {.to = to};
    uint64_t at;

    while ((f.n = from->receive(f.packet, sizeof(f.packet), p->now, &at)) != 0) {
        p->seen++;
        if (draw(p) % 50 == 0) {
            p->lost++;
            continue;
        }
        assert_true(p->count < WIRE);
        f.at = at + DELAY;
        p->wire[(p->first + p->count++) % WIRE] = f;
    }
}

/* Time passes in both until something may have changed. */
static void pass(struct pair *p)
{
    uint64_t next = p->a.next() < p->b.next() ? p->a.next() : p->b.next();

    if (p->count && p->wire[p->first].at < next)
        next = p->wire[p->first].at;
    assert_true(next != TOEVT_NEVER);
    p->now = next > p->now ? next : p->now + 1000;
    p->a.run(p->now);
    p->b.run(p->now);
    while (p->count && p->wire[p->first].at <= p->now) {
        struct flight *f = &p->wire[p->first];

        assert_int_equal(f->to->send(f->packet, f->n), 0);
        p->first = (p->first + 1) % WIRE;
        p->count--;
    }
    take_packets(p, &p->a, &p->b);
    take_packets(p, &p->b, &p->a);
}

static uint8_t byte_at(uint32_t n)
{
    return (uint8_t)(n * 2654435761u >> 24);
}

/* Writes what the socket takes; the number of bytes written so far. */
static uint32_t feed(const struct stack *s, int fd, uint32_t done)
{
    uint8_t buf[4096];
    uint32_t i, n;
    ssize_t r = 1;

    while (r > 0 && done < BYTES) {
        n = BYTES - done < sizeof(buf) ? BYTES - done : (uint32_t)sizeof(buf);
        for (i = 0; i < n; i++)
            buf[i] = byte_at(done + i);
        r = s->t.send(s->t.userdata, fd, buf, n, MSG_DONTWAIT);
        done += r > 0 ? (uint32_t)r : 0;
    }
    return done;
}

static uint32_t drain(const struct stack *s, int fd, uint32_t done, int *ended)
{
    uint8_t buf[4096];
    ssize_t r, i;

    while ((r = s->t.recv(s->t.userdata, fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
        for (i = 0; i < r; i++)
            assert_int_equal(buf[i], byte_at(done + (uint32_t)i));
        done += (uint32_t)r;
    }
    *ended = r == 0;
    return done;
}

/* A megabyte each way at the same time, one packet in fifty lost; a hash of all that was sent. */
static uint64_t exchange(unsigned random, unsigned *lost)
{
    struct pair p = {.random = random * 2654435761ull + 1};
    uint32_t sent[2] = {0, 0}, got[2] = {0, 0}, use[4];
    int fd, client, server = -1, ended[2] = {0, 0}, half[2] = {0, 0}, i;
    struct sockaddr to;
    uint64_t hash, end;

    p.wire = calloc(WIRE, sizeof(*p.wire));
    assert_non_null(p.wire);
    stack_load(&p.a, library, "local_ip=192.168.0.1,gateway=192.168.0.2,seed=1");
    stack_load(&p.b, library, "local_ip=192.168.0.2,gateway=192.168.0.1,seed=2");
    fd = listener(&p.b, "192.168.0.2");
    client = p.a.t.socket(p.a.t.userdata, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    stack_address(&to, "192.168.0.2", PORT);
    assert_int_equal(p.a.t.connect(p.a.t.userdata, client, &to, sizeof(to)), -1);
    assert_int_equal(errno, EINPROGRESS);
    p.b.t.fcntl(p.b.t.userdata, fd, F_SETFL, (long)O_NONBLOCK);
    p.now = p.a.now();
    while (!ended[0] || !ended[1]) {
        const struct stack *s[2] = {&p.a, &p.b};
        int sock[2] = {client, server};

        pass(&p);
        if (server < 0)
            server = p.b.t.accept(p.b.t.userdata, fd, NULL, NULL);
        for (i = 0; i < 2; i++) {
            if (sock[i] < 0)
                continue;
            sent[i] = feed(s[i], sock[i], sent[i]);
            if (sent[i] == BYTES && !half[i]) {
                half[i] = 1;
                assert_int_equal(s[i]->t.shutdown(s[i]->t.userdata, sock[i], SHUT_WR), 0);
            }
            got[i] = drain(s[i], sock[i], got[i], &ended[i]);
        }
        assert_true(p.now < 4000 * SECOND);
    }
    assert_int_equal(got[0], BYTES);
    assert_int_equal(got[1], BYTES);
    assert_true(p.lost > p.seen / 200);
    *lost = p.lost;
    hash = p.a.trace() ^ p.b.trace() * 31;
    p.a.t.close(p.a.t.userdata, client);
    close_both(&p.b, fd, server);
    end = p.now + 300 * SECOND;
    do { /* the wire keeps working: the last segments may have been lost */
        pass(&p);
        p.a.usage(use);
    } while (use[0] + use[1] + use[2] + use[3] && p.now < end);
    assert_true(p.now < end);
    stack_free(&p.a);
    stack_free(&p.b);
    free(p.wire);
    return hash;
}

static void two_stacks_and_a_wire_that_loses(void **state)
{
    unsigned lost[3];
    uint64_t a = exchange(seed, &lost[0]), b = exchange(seed, &lost[1]);

    (void)state;
    assert_true(a == b);
    assert_int_equal(lost[0], lost[1]);
    assert_true(exchange(seed + 1, &lost[2]) != a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_seed_same_trace),
                                       cmocka_unit_test(keepalive_over_two_hours),
                                       cmocka_unit_test(two_stacks_and_a_wire_that_loses)};

    stack_alone();
    library = argc > 1 ? argv[1] : "libtoe_packetdrill.so";
    seed = (unsigned)seed_of_run(20261121, UINT_MAX);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
