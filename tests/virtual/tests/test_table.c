/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_table.c - libtoe_packetdrill.so driven as packetdrill drives it: usleep and spinning on
 * gettimeofday between events, blocking calls in a second thread, descriptors closed behind the
 * stack's back at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stack.h"

#define LOCAL  "192.168.34.56" /* packetdrill's is random: learned from the first bind */
#define REMOTE "192.0.2.1"
#define SPIN   20

static const char *library;

struct test {
    struct stack s;
    int64_t start; /* microseconds */
    uint32_t iss;
};

static int64_t now(const struct test *t)
{
    struct timeval tv;

    assert_int_equal(t->s.t.gettimeofday(t->s.t.userdata, &tv, NULL), 0);
    return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

/* packetdrill's wait_for_event(): sleeps until shortly before, then spins. */
static void wait_for(const struct test *t, int64_t usecs)
{
    int64_t left, looks = 0;

    while ((left = t->start + usecs - now(t)) > 0) {
        if (left > SPIN)
            t->s.t.usleep(t->s.t.userdata, (useconds_t)(left - SPIN));
        assert_true(++looks < 1000); /* the clock does not advance */
    }
}

static void inject(const struct test *t, struct segment g)
{
    uint8_t packet[2048];
    size_t n;

    g.sport = 33000;
    g.dport = 8080;
    n = segment_write(packet, REMOTE, LOCAL, &g);
    assert_int_equal(t->s.t.netdev_send(t->s.t.userdata, packet, n), 0);
}

static struct segment sniff(const struct test *t, int64_t *at)
{
    uint8_t packet[4096];
    size_t n = sizeof(packet);
    long long usecs;

    assert_int_equal(t->s.t.netdev_receive(t->s.t.userdata, packet, &n, &usecs), 0);
    *at = usecs - t->start;
    return segment_read(packet, n);
}

static int begin(struct test *t, const char *flags)
{
    struct sockaddr a;
    int fd, on = 1;

    stack_load(&t->s, library, flags);
    t->start = now(t);
    fd = t->s.t.socket(t->s.t.userdata, AF_INET, SOCK_STREAM, IPPROTO_TCP);
    assert_true(fd >= 0);
    t->s.t.setsockopt(t->s.t.userdata, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    stack_address(&a, LOCAL, 8080);
    assert_int_equal(t->s.t.bind(t->s.t.userdata, fd, &a, sizeof(a)), 0);
    assert_int_equal(t->s.t.listen(t->s.t.userdata, fd, 1), 0);
    return fd;
}

static void handshake(struct test *t)
{
    struct segment g;
    int64_t at;

    wait_for(t, 100000);
    inject(t, (struct segment){.seq = 0, .flags = SYN, .window = 32792});
    g = sniff(t, &at);
    assert_int_equal(g.flags, SYN | ACK);
    assert_int_equal(g.ack, 1);
    assert_in_range(at, 99900, 100100);
    t->iss = g.seq;
    wait_for(t, 200000);
    inject(t, (struct segment){.seq = 1, .ack = t->iss + 1, .flags = ACK, .window = 32792});
}

static void is_descriptor(int fd)
{
    assert_true(fcntl(fd, F_GETFD) >= 0);
}

static void a_server(void **state)
{
    struct test t;
    struct segment g;
    int64_t at;
    uint8_t data[500] = {0};
    int fd = begin(&t, NULL), conn;

    (void)state;
    is_descriptor(fd);
    handshake(&t);
    conn = t.s.t.accept(t.s.t.userdata, fd, NULL, NULL);
    is_descriptor(conn);
    assert_int_equal(t.s.t.write(t.s.t.userdata, conn, data, sizeof(data)), sizeof(data));
    g = sniff(&t, &at);
    assert_int_equal(g.len, 500);
    assert_in_range(at, 199900, 200100);
    /* no packet comes: netdev_receive() jumps to the retransmission, far beyond now */
    g = sniff(&t, &at);
    assert_int_equal(g.seq, t.iss + 1);
    assert_in_range(at, 400000, 600000);
    inject(&t, (struct segment){.seq = 1, .ack = g.seq + 500, .flags = ACK, .window = 32792});
    /* packetdrill's teardown closes what it knows by close(2) alone */
    close(conn);
    close(fd);
    stack_free(&t.s);
}

/* ---- a call in a second thread, as packetdrill's syscall thread makes it ---- */

struct call {
    struct test *t;
    int fd;
    ssize_t result;
    int64_t ended; /* microseconds since the start, as packetdrill takes it: right after */
    pthread_t thread;
};

static void *blocking_read(void *arg)
{
    struct call *c = arg;
    char buf[100];

    c->result = c->t->s.t.read(c->t->s.t.userdata, c->fd, buf, sizeof(buf));
    c->ended = now(c->t) - c->t->start;
    return NULL;
}

static void *blocking_poll(void *arg)
{
    struct call *c = arg;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};

    c->result = c->t->s.t.poll(c->t->s.t.userdata, &p, 1, 300);
    c->ended = now(c->t) - c->t->start;
    return NULL;
}

/* Accepts its connection and makes the call on it in a second thread; packetdrill waits until /proc
 * shows that the thread sleeps. Returns the listener. */
static int begin_call(struct test *t, struct call *c, void *(*fn)(void *arg))
{
    int fd = begin(t, "");

    handshake(t);
    *c = (struct call){.t = t, .ended = -1};
    c->fd = t->s.t.accept(t->s.t.userdata, fd, NULL, NULL);
    assert_int_equal(pthread_create(&c->thread, NULL, fn, c), 0);
    usleep(20000);
    return fd;
}

static void a_blocking_read_in_a_second_thread(void **state)
{
    struct test t;
    struct call c;
    struct segment g;
    int64_t at;
    int fd = begin_call(&t, &c, blocking_read);

    (void)state;
    wait_for(&t, 400000);
    assert_int_equal(c.ended, -1);
    inject(&t, (struct segment){
                   .seq = 1, .ack = t.iss + 1, .flags = ACK | PSH, .window = 32792, .len = 10});
    /* the main thread continues to the delayed ACK: the reader has its own time */
    g = sniff(&t, &at);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.result, 10);
    assert_in_range(c.ended, 399900, 400200);
    assert_int_equal(g.ack, 11);
    close(c.fd);
    close(fd);
    stack_free(&t.s);
}

/* Its time limit comes while the main thread sleeps far beyond. */
static void a_poll_that_times_out_in_a_second_thread(void **state)
{
    struct test t;
    struct call c;
    int fd = begin_call(&t, &c, blocking_poll);

    (void)state;
    wait_for(&t, 5000000);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.result, 0);
    assert_in_range(c.ended, 499900, 500300);
    close(c.fd);
    close(fd);
    stack_free(&t.s);
}

/* A thread that still sleeps when packetdrill gives up ends with the stack. */
static void the_end_wakes_who_sleeps(void **state)
{
    struct test t;
    struct call c;
    int fd = begin_call(&t, &c, blocking_read);

    (void)state;
    t.s.t.free(t.s.t.userdata);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.result, -1);
    close(c.fd);
    close(fd);
}

static void knobs(void **state)
{
    struct stack s;
    char err[256];

    (void)state;
    stack_load(&s, library, "tcp_sack=0, tcp_congestion_control=reno rcvbuf=32768");
    assert_string_equal(s.get("tcp_sack"), "0");
    assert_string_equal(s.get("tcp_congestion_control"), "reno");
    assert_string_equal(s.get("rcvbuf"), "32768");
    assert_null(s.get("nothing"));
    assert_int_equal(s.set("tcp_sack=1", err, sizeof(err)), 0);
    assert_string_equal(s.get("tcp_sack"), "1");
    assert_int_equal(s.set("nothing=1", err, sizeof(err)), -1);
    assert_string_equal(err, "there is no knob 'nothing'");
    assert_int_equal(s.set("tcp_sack=what", err, sizeof(err)), -1);
    assert_int_equal(s.set("tcp_sack", err, sizeof(err)), -1);
    assert_int_equal(s.set("tcp_congestion_control=vegas", err, sizeof(err)), -1);
    stack_again(&s, "");
    assert_string_equal(s.get("tcp_congestion_control"), "cubic");
    stack_free(&s);
}

/* A call that could never return: the process reports it and fails. */
static void no_packet_will_come(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        struct test t;
        int64_t at;

        if (freopen("/dev/null", "w", stderr)) {
            begin(&t, "");
            sniff(&t, &at);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

/* The name and the layout that packetdrill looks for. */
static void the_symbol(void **state)
{
    void (*init)(const char *flags, struct packetdrill_interface *out);
    struct packetdrill_interface t;
    struct stack s;
    void *p, **member = (void **)(void *)&t;
    size_t i;

    (void)state;
    stack_load(&s, library, "");
    p = dlsym(s.handle, "packetdrill_interface_init");
    assert_non_null(p);
    memcpy(&init, &p, sizeof(p));
    memset(&t, 0, sizeof(t));
    init("seed=4", &t);
    assert_int_equal(sizeof(t), 33 * sizeof(void *));
    for (i = 0; i < 33; i++)
        assert_non_null(member[i]);
    assert_string_equal(s.get("seed"), "4");
    stack_free(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_symbol),
        cmocka_unit_test(a_server),
        cmocka_unit_test(a_blocking_read_in_a_second_thread),
        cmocka_unit_test(a_poll_that_times_out_in_a_second_thread),
        cmocka_unit_test(the_end_wakes_who_sleeps),
        cmocka_unit_test(knobs),
        cmocka_unit_test(no_packet_will_come),
    };

    library = argc > 1 ? argv[1] : "libtoe_packetdrill.so";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
