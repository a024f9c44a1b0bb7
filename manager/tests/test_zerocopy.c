/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_zerocopy.c - toe_send_ref() and MSG_ZEROCOPY: the bytes of the stream, memory that is reused
 * as soon as its completion arrives, and the content of completions.
 */
#include <time.h>

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "harness.h"

#define PIECES     8      /* of a vector, at most */
#define PIECE      1500   /* bytes of each, at most */
#define SLABS      32     /* calls under way, at most */
#define TOTAL      600000 /* bytes of a stream */
#define FLAG       MSG_ZEROCOPY
#define ZERO_BYTES 3000

static uint8_t byte_at(uint32_t i)
{
    return (uint8_t)(i * 2654435761u >> 24);
}

/* Before the attach: sets the size from which pieces are sent by reference. */
static int references_from(const char *bytes, void **state)
{
    setenv("TOEHOLD_ZEROCOPY_MIN", bytes, 1);
    return harness_setup(state);
}
static int all_by_reference(void **state)
{
    return references_from("1", state);
}
static int large_by_reference(void **state)
{
    return references_from("1000", state);
}

static int done(void **state)
{
    int r = harness_teardown(state);

    unsetenv("TOEHOLD_ZEROCOPY_MIN");
    return r;
}

/* Memory of one call: reused after its completion. */
struct slab {
    uint8_t bytes[PIECES][PIECE];
    bool used;
};

/* Sends up to `most` bytes of the pattern from slab i; returns their number. */
static uint32_t send_slab(int fd, struct slab *slab, uint64_t i, uint32_t most, uint32_t from)
{
    struct iovec iov[PIECES];
    uint32_t n = 0, count = 1 + harness_random() % PIECES;
    ssize_t r;

    for (uint32_t p = 0; p < count; p++) {
        uint32_t k = harness_random() % 2 ? harness_random() % PIECE : harness_random() % 32;

        if (k > most - n)
            k = most - n;
        for (uint32_t b = 0; b < k; b++)
            slab->bytes[p][b] = byte_at(from + n + b);
        iov[p] = (struct iovec){slab->bytes[p], k};
        n += k;
    }
    r = toe_send_ref(fd, iov, (int)count, 0, i);
    if (r < 0)
        assert_int_equal(errno, EAGAIN);
    slab->used = r > 0;
    return r > 0 ? (uint32_t)r : 0;
}

/* Reads completions and overwrites the memory that they free. Returns how many were of references.
 */
static unsigned reap(int fd, struct slab *slabs, uint64_t *next, unsigned *all)
{
    struct toe_completion c[3];
    unsigned by_reference = 0;
    int n = toe_send_completions(fd, c, 3);

    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        struct slab *slab = &slabs[c[i].token % SLABS];

        assert_int_equal(c[i].token, (*next)++);
        assert_true(slab->used);
        slab->used = false;
        memset(slab->bytes, 0xee, sizeof(slab->bytes));
        by_reference += !(c[i].flags & TOE_COPIED);
        ++*all;
    }
    return by_reference;
}

static void memory_is_free_when_it_is_told(void **state)
{
    static struct slab slabs[SLABS];
    uint64_t token = 0, next = 0;
    uint32_t sent = 0, got = 0;
    unsigned by_reference = 0, told = 0;
    uint8_t in[4000];
    int fd[2];

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    harness_nonblock(fd[1]);
    memset(slabs, 0, sizeof(slabs));
    while (got < TOTAL || next < token) {
        ssize_t r = toe_recv(fd[1], in, harness_random() % sizeof(in), 0);

        for (ssize_t i = 0; i < r; i++)
            assert_int_equal(in[i], byte_at(got + (uint32_t)i));
        got += r > 0 ? (uint32_t)r : 0;
        by_reference += reap(fd[0], slabs, &next, &told);
        if (sent < TOTAL && harness_random() % 5 == 0) { /* ordinary bytes in between */
            uint8_t out[300];

            for (uint32_t i = 0; i < sizeof(out); i++)
                out[i] = byte_at(sent + i);
            r = toe_send(fd[0], out, TOTAL - sent < 300 ? TOTAL - sent : 300, 0);
            sent += r > 0 ? (uint32_t)r : 0;
        }
        if (sent < TOTAL && !slabs[token % SLABS].used) {
            uint32_t n = send_slab(fd[0], &slabs[token % SLABS], token, TOTAL - sent, sent);

            sent += n;
            token += n > 0;
        }
    }
    assert_int_equal(told, token);
    if (harness_inline())
        assert_true(by_reference > token / 2);
    else
        assert_int_equal(by_reference, 0); /* memory that the TOE cannot see */
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void small_pieces_are_copied(void **state)
{
    struct toe_completion c;
    struct iovec iov[2];
    char big[1000], small[999], in[3000];
    int fd[2];

    (void)state;
    memset(big, 'b', sizeof(big));
    memset(small, 's', sizeof(small));
    harness_pair(fd);
    for (int mixed = 0; mixed < 2; mixed++) {
        iov[0] = (struct iovec){big, sizeof(big)};
        iov[1] = (struct iovec){small, sizeof(small)};
        assert_int_equal(toe_send_ref(fd[0], iov, 1 + mixed, 0, 7), mixed ? 1999 : 1000);
        assert_int_equal(toe_recv(fd[1], in, mixed ? 1999 : 1000, MSG_WAITALL),
                         mixed ? 1999 : 1000);
        assert_memory_equal(in, big, sizeof(big));
        if (mixed)
            assert_memory_equal(in + 1000, small, sizeof(small));
        while (!(harness_wait(fd[0], POLLERR) & POLLERR))
            ;
        assert_int_equal(toe_send_completions(fd[0], &c, 1), 1);
        assert_int_equal(c.token, 7);
        assert_int_equal(c.flags, mixed || !harness_inline() ? TOE_COPIED : 0);
    }
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void wrong_arguments_are_refused(void **state)
{
    struct iovec iov = {(void *)(uintptr_t) "x", 1};
    struct toe_completion c;
    int fd[2], k = toe_socket(AF_INET, SOCK_DGRAM, 0), s = toe_socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send_ref(fd[0], &iov, 1, MSG_OOB, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_ref(fd[0], &iov, -1, 0, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_ref(fd[0], &iov, 1025, 0, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_ref(fd[0], NULL, 1, 0, 0), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(toe_send_ref(-1, &iov, 1, 0, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_send_ref(k, &iov, 1, 0, 0), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(toe_send_ref(s, &iov, 1, 0, 0), -1);
    assert_int_equal(errno, ENOTCONN);
    assert_int_equal(toe_send_ref(fd[0], &iov, 0, 0, 0), 0);
    assert_int_equal(toe_send_completions(fd[0], &c, -1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_completions(fd[0], NULL, 1), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(toe_send_completions(k, &c, 1), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(toe_send_completions(fd[0], &c, 1), 0);
    assert_int_equal(toe_send_completions(s, &c, 1), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
    toe_close(s);
    toe_close(k);
}

static void completions_nobody_reads_are_bounded(void **state)
{
    struct iovec iov = {(void *)(uintptr_t) "x", 1};
    struct toe_completion c;
    int fd[2], n = 0, on = 1;
    char in[16];

    (void)state;
    harness_pair(fd);
    toe_setsockopt(fd[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* else 40 ms each */
    while (toe_send_ref(fd[0], &iov, 1, 0, (uint64_t)n) == 1) {
        assert_int_equal(toe_recv(fd[1], in, 1, 0), 1);
        n++;
    }
    assert_int_equal(errno, ENOBUFS);
    assert_int_equal(n, 1024);
    assert_int_equal(toe_send(fd[0], "y", 1, 0), 1); /* other connections continue */
    while (toe_send_completions(fd[0], &c, 1) == 0)
        ;
    assert_int_equal(c.token, 0);
    assert_int_equal(toe_send_ref(fd[0], &iov, 1, 0, 9999), 1);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* Sends more by reference than the peer's buffer takes, and what fits besides. Returns the number
 * of bytes. */
static uint32_t fill(int fd, uint8_t *memory, uint32_t n)
{
    uint32_t sent = 0;

    for (int idle = 0; idle < 50 || sent <= RX_SIZE;) {
        struct iovec iov = {memory + sent, n - sent};
        ssize_t r = toe_send_ref(fd, &iov, 1, MSG_DONTWAIT, 1);

        idle = r > 0 ? 0 : idle + 1;
        sent += r > 0 ? (uint32_t)r : 0;
        if (r < 0)
            poll(NULL, 0, 1);
    }
    assert_true(sent < n);
    return sent;
}

/* No completion will come: unacknowledged bytes are copied, and the memory may be freed. */
static void close_gives_the_memory_back(void **state)
{
    size_t size = 1 << 20;
    uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t in[1000];
    uint32_t sent, got = 0;
    int fd[2];

    (void)state;
    harness_pair(fd);
    for (uint32_t i = 0; i < size; i++)
        memory[i] = byte_at(i);
    sent = fill(fd[0], memory, (uint32_t)size);
    assert_true(sent > RX_SIZE); /* more than the peer has accepted */
    toe_close(fd[0]);
    munmap(memory, size);
    for (ssize_t r; (r = toe_recv(fd[1], in, sizeof(in), 0)) > 0; got += (uint32_t)r)
        for (ssize_t i = 0; i < r; i++)
            assert_int_equal(in[i], byte_at(got + (uint32_t)i));
    assert_int_equal(got, sent);
    toe_close(fd[1]);
}

static void a_reset_tells_all(void **state)
{
    static uint8_t memory[1 << 16];
    struct linger hard = {1, 0};
    struct toe_completion c;
    int fd[2], n = 0;

    (void)state;
    harness_pair(fd);
    fill(fd[0], memory, sizeof(memory));
    while (toe_send_completions(fd[0], &c, 1) == 1)
        n++;
    toe_setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    toe_close(fd[1]);
    while (!(harness_wait(fd[0], POLLHUP) & POLLHUP))
        ;
    n = 0;
    while (toe_send_completions(fd[0], &c, 1) == 1)
        n++;
    assert_true(n > 0);
    toe_close(fd[0]);
}

/* Fills the peer's buffer and all but `left` bytes of the own one. */
static void fill_but(int fd, uint32_t left)
{
    static const char memory[TX_SIZE];

    harness_fill_peer(fd);
    assert_int_equal(toe_send(fd, memory, TX_SIZE - left, 0), TX_SIZE - left);
}

#define BEFORE 15 /* calls under way: one more, and the queue of them is full */

struct sender {
    pthread_t thread;
    int fd;
    uint64_t token;
    ssize_t r;
};

static void *send_one(void *arg)
{
    struct sender *s = arg;
    struct iovec iov = {(void *)(uintptr_t) "x", 1};

    s->r = toe_send_ref(s->fd, &iov, 1, 0, s->token);
    return NULL;
}

/* All of them wait for room at the same time: each gets its completion. */
static void each_of_several_threads_is_told(void **state)
{
    static char in[RX_SIZE];
    struct sender s[4];
    uint32_t seen = 0;
    int fd[2];

    (void)state;
    harness_pair(fd);
    fill_but(fd[0], BEFORE);
    for (uint64_t i = 0; i < BEFORE; i++) {
        struct iovec iov = {(void *)(uintptr_t) "x", 1};

        assert_int_equal(toe_send_ref(fd[0], &iov, 1, MSG_DONTWAIT, i), 1);
    }
    for (unsigned i = 0; i < 4; i++) {
        s[i] = (struct sender){.fd = fd[0], .token = BEFORE + i};
        assert_int_equal(pthread_create(&s[i].thread, NULL, send_one, &s[i]), 0);
    }
    poll(NULL, 0, 100); /* they wait */
    for (size_t got = 0; got < RX_SIZE + TX_SIZE + 4;) {
        ssize_t r = toe_recv(fd[1], in, 3000, 0);

        assert_true(r > 0);
        got += (size_t)r;
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(s[i].thread, NULL);
        assert_int_equal(s[i].r, 1);
    }
    for (unsigned n = 0; n < BEFORE + 4; n++) {
        struct toe_completion c;

        assert_true(harness_wait(fd[0], POLLERR) & POLLERR);
        assert_int_equal(toe_send_completions(fd[0], &c, 1), 1);
        assert_true(c.token < BEFORE + 4 && !(seen >> c.token & 1));
        assert_true(c.token >= BEFORE || c.token == n);
        seen |= 1u << c.token;
    }
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* ---- MSG_ZEROCOPY ---- */

struct told {
    struct sock_extended_err e;
    int flags, level, type;
    size_t len;
};

/* Waits for a completion and reads it. */
static struct told read_told(int fd, size_t room)
{
    char control[256] = {0};
    struct msghdr msg = {.msg_control = control, .msg_controllen = room};
    struct cmsghdr *c = (struct cmsghdr *)control;
    struct told t;

    while (!(harness_wait(fd, POLLERR) & POLLERR))
        ;
    assert_int_equal(toe_recvmsg(fd, &msg, MSG_ERRQUEUE), 0);
    t = (struct told){
        .flags = msg.msg_flags, .level = c->cmsg_level, .type = c->cmsg_type, .len = c->cmsg_len};
    memcpy(&t.e, CMSG_DATA(c), sizeof(t.e));
    return t;
}

static void nothing_is_told(int fd)
{
    struct msghdr msg = {0};

    assert_int_equal(toe_recvmsg(fd, &msg, MSG_ERRQUEUE), -1);
    assert_int_equal(errno, EAGAIN);
}

static void send_all(int fd[2], int flags, unsigned calls)
{
    static char memory[ZERO_BYTES], in[ZERO_BYTES];

    for (unsigned i = 0; i < calls; i++) {
        assert_int_equal(toe_send(fd[0], memory, sizeof(memory), flags), sizeof(memory));
        assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_WAITALL), sizeof(in));
    }
}

static void calls_are_numbered_and_told_in_ranges(void **state)
{
    int fd[2], v = 1;
    socklen_t len = sizeof(v);
    struct told t;

    (void)state;
    harness_pair(fd);
    send_all(fd, FLAG, 2); /* without the option the flag means nothing */
    nothing_is_told(fd[0]);
    v = 2;
    assert_int_equal(toe_setsockopt(fd[0], SOL_SOCKET, SO_ZEROCOPY, &v, sizeof(v)), -1);
    assert_int_equal(errno, EINVAL);
    v = 1;
    assert_int_equal(toe_setsockopt(fd[0], SOL_SOCKET, SO_ZEROCOPY, &v, sizeof(v)), 0);
    v = 0;
    assert_int_equal(toe_getsockopt(fd[0], SOL_SOCKET, SO_ZEROCOPY, &v, &len), 0);
    assert_int_equal(v, 1);
    send_all(fd, 0, 1);
    nothing_is_told(fd[0]);
    assert_int_equal(toe_send(fd[0], "", 0, FLAG), 0);
    nothing_is_told(fd[0]);
    send_all(fd, FLAG, 1);
    t = read_told(fd[0], 256);
    assert_int_equal(t.e.ee_origin, SO_EE_ORIGIN_ZEROCOPY);
    assert_int_equal(t.e.ee_errno, 0);
    assert_int_equal(t.e.ee_info, 0);
    assert_int_equal(t.e.ee_data, 0);
    assert_int_equal(t.e.ee_code, harness_inline() ? 0 : SO_EE_CODE_ZEROCOPY_COPIED);
    assert_int_equal(t.level, SOL_IP);
    assert_int_equal(t.type, IP_RECVERR);
    assert_int_equal(t.len, CMSG_LEN(sizeof(t.e) + sizeof(struct sockaddr_in)));
    assert_int_equal(t.flags, MSG_ERRQUEUE);
    nothing_is_told(fd[0]);
    assert_int_equal(harness_wait(fd[0], POLLOUT) & POLLERR, 0);
    send_all(fd, FLAG, 5);
    harness_await_acked(fd[0]);
    t = read_told(fd[0], sizeof(struct cmsghdr) + 20);
    assert_int_equal(t.e.ee_info, 1);
    assert_int_equal(t.e.ee_data, 5);
    assert_int_equal(t.flags, MSG_ERRQUEUE | MSG_CTRUNC);
    len = sizeof(v);
    assert_int_equal(toe_getsockopt(fd[0], SOL_SOCKET, SO_ERROR, &v, &len), 0);
    assert_int_equal(v, 0);
    send_all(fd, FLAG, 1);
    while (!(harness_wait(fd[0], POLLERR) & POLLERR))
        ;
    assert_int_equal(toe_recv(fd[0], &v, 1, MSG_ERRQUEUE), 0); /* reads it */
    nothing_is_told(fd[0]);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void both_kinds_keep_apart(void **state)
{
    struct iovec iov = {(void *)(uintptr_t) "memory", 6};
    struct toe_completion c[2];
    int fd[2], v = 1;
    struct told t;

    (void)state;
    harness_pair(fd);
    toe_setsockopt(fd[0], SOL_SOCKET, SO_ZEROCOPY, &v, sizeof(v));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(toe_send_ref(fd[0], &iov, 1, 0, 100 + (uint64_t)i), 6);
        assert_int_equal(toe_send(fd[0], "memory", 6, FLAG), 6);
    }
    harness_await_acked(fd[0]);
    t = read_told(fd[0], 256);
    assert_int_equal(t.e.ee_info, 0);
    assert_int_equal(t.e.ee_data, 1);
    assert_true(harness_wait(fd[0], POLLERR) & POLLERR);
    assert_int_equal(toe_send_completions(fd[0], c, 2), 2);
    assert_int_equal(c[0].token, 100);
    assert_int_equal(c[1].token, 101);
    assert_int_equal(harness_wait(fd[0], POLLOUT) & POLLERR, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void epoll_tells_once_when_edge_triggered(void **state)
{
    struct epoll_event e = {.events = EPOLLET};
    int fd[2], v = 1, ep = toe_epoll_create1(0);
    struct told t;

    (void)state;
    harness_pair(fd);
    toe_setsockopt(fd[0], SOL_SOCKET, SO_ZEROCOPY, &v, sizeof(v));
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e), 0);
    assert_int_equal(toe_epoll_wait(ep, &e, 1, 0), 0);
    for (uint32_t i = 0; i < 2; i++) {
        send_all(fd, FLAG, 1);
        assert_int_equal(toe_epoll_wait(ep, &e, 1, HARNESS_PATIENCE_MS), 1);
        assert_int_equal(e.events, EPOLLERR);
        assert_int_equal(toe_epoll_wait(ep, &e, 1, 0), 0);
        t = read_told(fd[0], 256);
        assert_int_equal(t.e.ee_info, i);
    }
    toe_close(ep);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

#define LONG_SEND 40000

static void *send_long(void *arg)
{
    static const char memory[LONG_SEND];
    struct sender *s = arg;

    s->r = toe_send(s->fd, memory, sizeof(memory), FLAG);
    return NULL;
}

/* The rest takes another path when a child starts to use the connection in the middle of a call;
 * that path carries bytes, but has no error queue. */
static void a_child_shares_it_in_the_middle_of_a_call(void **state)
{
    static char in[RX_SIZE];
    struct sender s = {.r = 0};
    struct toe_completion c;
    int fd[2], v = 1, status, go[2];
    size_t got = 0;
    pid_t pid;
    char b;

    (void)state;
    harness_pair(fd);
    toe_setsockopt(fd[0], SOL_SOCKET, SO_ZEROCOPY, &v, sizeof(v));
    assert_int_equal(pipe(go), 0);
    pid = fork();
    if (pid == 0) {
        toe_close(fd[1]);
        if (read(go[0], &b, 1) != 1 || toe_send(fd[0], "c", 1, 0) != 1)
            _exit(1);
        _exit(toe_recv(fd[0], &b, 1, 0) == 1 ? 0 : 2);
    }
    s.fd = fd[0];
    assert_int_equal(pthread_create(&s.thread, NULL, send_long, &s), 0);
    poll(NULL, 0, 50); /* it waits for room */
    assert_int_equal(write(go[1], "", 1), 1);
    while (got < LONG_SEND + 1) {
        ssize_t r = toe_recv(fd[1], in, 1000, 0);

        assert_true(r > 0);
        got += (size_t)r;
        poll(NULL, 0, 1);
    }
    pthread_join(s.thread, NULL);
    assert_int_equal(s.r, LONG_SEND);
    assert_int_equal(toe_send(fd[1], "ab", 1, 0), 1);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(toe_send(fd[1], "ab", 2, 0), 2);
    assert_true(harness_wait(fd[0], POLLIN) & POLLIN);
    while (toe_recv(fd[0], in, sizeof(in), MSG_ERRQUEUE) == 0)
        ; /* the state at the start of the call */
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_send_completions(fd[0], &c, 1), 0);
    assert_int_equal(toe_recv(fd[0], in, 2, MSG_WAITALL), 2);
    assert_memory_equal(in, "ab", 2);
    toe_close(fd[0]);
    toe_close(fd[1]);
    close(go[0]);
    close(go[1]);
}

#define REF_TEST(f, setup) cmocka_unit_test_setup_teardown(f, setup, done)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REF_TEST(memory_is_free_when_it_is_told, all_by_reference),
        REF_TEST(small_pieces_are_copied, large_by_reference),
        TOE_TEST(wrong_arguments_are_refused),
        REF_TEST(completions_nobody_reads_are_bounded, all_by_reference),
        REF_TEST(close_gives_the_memory_back, all_by_reference),
        REF_TEST(a_reset_tells_all, all_by_reference),
        REF_TEST(each_of_several_threads_is_told, all_by_reference),
        REF_TEST(calls_are_numbered_and_told_in_ranges, large_by_reference),
        REF_TEST(both_kinds_keep_apart, all_by_reference),
        REF_TEST(epoll_tells_once_when_edge_triggered, large_by_reference),
        REF_TEST(a_child_shares_it_in_the_middle_of_a_call, large_by_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
