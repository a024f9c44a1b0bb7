/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_table.c - libtoe_packetdrill.so driven as packetdrill drives it: usleep and spinning on
 * gettimeofday between events, blocking calls in a second thread, descriptors closed behind the
 * stack's back at the end.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
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
    _Atomic pid_t tid; /* once the thread runs */
};

static void *blocking_read(void *arg)
{
    struct call *c = arg;
    char buf[100];

    c->tid = gettid();
    c->result = c->t->s.t.read(c->t->s.t.userdata, c->fd, buf, sizeof(buf));
    c->ended = now(c->t) - c->t->start;
    return NULL;
}

static void *blocking_poll(void *arg)
{
    struct call *c = arg;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};

    c->tid = gettid();
    c->result = c->t->s.t.poll(c->t->s.t.userdata, &p, 1, 300);
    c->ended = now(c->t) - c->t->start;
    return NULL;
}

/* packetdrill's is_thread_sleeping(). */
static int sleeps(pid_t tid)
{
    char path[64], stat[512] = "", *state;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, stat, sizeof(stat) - 1) > 0);
    close(fd);
    state = strrchr(stat, ')');
    return state && state[2] == 'S';
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
    while (!c->tid || !sleeps(c->tid))
        usleep(100);
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
    assert_string_equal(s.get("tcp_fastopen_key"), "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4");
    assert_int_equal(s.set("tcp_fastopen_key=1-2-3-4", err, sizeof(err)), 0);
    assert_string_equal(s.get("tcp_fastopen_key"), "00000001-00000002-00000003-00000004");
    assert_int_equal(s.set("tcp_fastopen_key=1-2-3", err, sizeof(err)), -1);
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

/* ---- what packetdrill does not pass to a shared object ---- */

/* packetdrill --ip_version=ipv6 needs no flags: the first address that it binds is the stack's. */
static void ip6_without_flags(void **state)
{
    struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_port = htons(8080)}, peer = own;
    struct test t;
    uint8_t packet[4096];
    size_t n = sizeof(packet);
    long long usecs;
    int fd;

    (void)state;
    inet_pton(AF_INET6, "fd3d:a0b:17d6::1", &own.sin6_addr);
    inet_pton(AF_INET6, "2001:db8::1", &peer.sin6_addr);
    stack_load(&t.s, library, "");
    fd = t.s.t.socket(t.s.t.userdata, AF_INET6, SOCK_STREAM, IPPROTO_TCP);
    assert_int_equal(t.s.t.fcntl(t.s.t.userdata, fd, F_SETFL, (long)O_NONBLOCK), 0);
    assert_int_equal(t.s.t.bind(t.s.t.userdata, fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_string_equal(t.s.get("local_ip6"), "fd3d:a0b:17d6::1");
    assert_int_equal(t.s.t.connect(t.s.t.userdata, fd, (struct sockaddr *)&peer, sizeof(peer)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(t.s.t.netdev_receive(t.s.t.userdata, packet, &n, &usecs), 0);
    assert_int_equal(packet[0] >> 4, 6);
    assert_memory_equal(packet + 8, &own.sin6_addr, 16);
    assert_memory_equal(packet + 24, &peer.sin6_addr, 16);
    assert_int_equal(packet[40 + 13], SYN);
    stack_free(&t.s);
}

/* Runs this program again, with more words after the library, and returns its exit code. */
static int again(const char *preload, const char *mode, const char *word, const char *value)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (preload)
            setenv("LD_PRELOAD", preload, 1);
        execl("/proc/self/exe", "test_table", library, mode, word, value, NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The table of the library itself, not of a copy, by the name that packetdrill looks up. */
static void direct(struct test *t, const char *flags)
{
    void (*init)(const char *flags, struct packetdrill_interface *out);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *p;

    p = handle ? dlsym(handle, "packetdrill_interface_init") : NULL;
    if (!p)
        _exit(126);
    memcpy(&init, &p, sizeof(init));
    init(flags, &t->s.t);
    t->start = now(t);
}

/* The MSS of the SYN-ACK to a SYN shows the MTU: in hundreds, the MTU. */
static int show_mtu(const char *flags)
{
    struct sockaddr a;
    struct test t;
    uint8_t packet[4096];
    size_t n = sizeof(packet);
    long long usecs;
    int fd;

    direct(&t, flags);
    stack_address(&a, LOCAL, 8080);
    fd = t.s.t.socket(t.s.t.userdata, AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (t.s.t.bind(t.s.t.userdata, fd, &a, sizeof(a)) || t.s.t.listen(t.s.t.userdata, fd, 1))
        return 125;
    inject(&t, (struct segment){.seq = 0, .flags = SYN, .window = 32792});
    if (t.s.t.netdev_receive(t.s.t.userdata, packet, &n, &usecs) || packet[40] != 2)
        return 124;
    return ((packet[42] << 8 | packet[43]) + 40) / 100;
}

/* --mtu of packetdrill's command line, or of the script, is the stack's too; --so_flags wins. */
static void mtu_in_one_place(void **state)
{
    char script[] = "/tmp/toehold-XXXXXX.pkt";
    int fd = mkstemps(script, 4);
    FILE *f = fdopen(fd, "w");

    (void)state;
    assert_non_null(f);
    fprintf(f, "// a script\n--ip_version=ipv4\n /* its\n --mtu=9000 */\n--mtu=1300\n0 `true`\n");
    assert_int_equal(fclose(f), 0);
    assert_int_equal(again(NULL, "mtu", "--mtu=1400", "x"), 14);
    assert_int_equal(again(NULL, "mtu", "--mtu", "1200"), 12);
    assert_int_equal(again(NULL, "mtu", "--verbose", "x"), 15);
    assert_int_equal(again(NULL, "mtu", "--verbose", script), 13);
    assert_int_equal(again(NULL, "mtu", "--mtu=1400", script), 14);
    assert_int_equal(again(NULL, "mtu=1100", "--mtu=1400", script), 11);
    unlink(script);
}

/* packetdrill calls libc's sendfile(), which is the library's when that is preloaded. */
static int send_a_file(void)
{
    struct test t;
    struct segment g;
    struct sockaddr a;
    off_t offset = 0;
    int64_t at;
    int fd, conn, file = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    signal(SIGPIPE, SIG_IGN); /* the kernel's placeholder is not connected */
    direct(&t, "");
    stack_address(&a, LOCAL, 8080);
    fd = t.s.t.socket(t.s.t.userdata, AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (t.s.t.bind(t.s.t.userdata, fd, &a, sizeof(a)) || t.s.t.listen(t.s.t.userdata, fd, 1))
        return 125;
    handshake(&t);
    conn = t.s.t.accept(t.s.t.userdata, fd, NULL, NULL);
    if (sendfile(conn, file, &offset, 500) != 500)
        return 124;
    g = sniff(&t, &at);
    return g.len == 500 ? 0 : 123;
}

static void sendfile_when_preloaded(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* its runtime comes first among the preloaded */
#else
    assert_int_equal(again(library, "sendfile", "x", "x"), 0);
    assert_int_equal(again(NULL, "sendfile", "x", "x"), 124);
#endif
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
        cmocka_unit_test(ip6_without_flags),
        cmocka_unit_test(mtu_in_one_place),
        cmocka_unit_test(sendfile_when_preloaded),
        cmocka_unit_test(no_packet_will_come),
    };

    stack_alone();
    library = argc > 1 ? argv[1] : "libtoe_packetdrill.so";
    if (argc > 2 && strcmp(argv[2], "sendfile") == 0)
        return send_a_file();
    if (argc > 2)
        return show_mtu(strcmp(argv[2], "mtu") == 0 ? "" : argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
