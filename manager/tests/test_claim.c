/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim.c - toe_send_reserve/commit and toe_recv_peek/consume (toe.h): the bytes of the
 * stream, which calls are allowed during a claim, and memory that stays valid after the connection
 * or the TOE has ended.
 */
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static uint8_t byte_at(uint32_t i)
{
    return (uint8_t)(i * 2654435761u >> 24);
}

static void write_pattern(const struct iovec iov[2], uint32_t n, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *to = i < iov[0].iov_len ? (uint8_t *)iov[0].iov_base + i
                                         : (uint8_t *)iov[1].iov_base + i - iov[0].iov_len;

        *to = byte_at(from + i);
    }
}

static void check_pattern(const struct iovec iov[2], uint32_t n, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *at = i < iov[0].iov_len
                                ? (const uint8_t *)iov[0].iov_base + i
                                : (const uint8_t *)iov[1].iov_base + i - iov[0].iov_len;

        assert_int_equal(*at, byte_at(from + i));
    }
}

/* Sends up to n bytes of the pattern, in place or by send(); returns their number. */
static uint32_t send_some(int fd, uint32_t n, uint32_t from)
{
    uint8_t out[TX_SIZE];
    struct iovec iov[2];
    ssize_t r;

    if (harness_random() % 4 == 0) {
        n = n < sizeof(out) ? n : sizeof(out);
        write_pattern((struct iovec[2]){{out, n}, {NULL, 0}}, n, from);
        r = toe_send(fd, out, n, 0);
        assert_true(r > 0 || errno == EAGAIN);
        return r > 0 ? (uint32_t)r : 0;
    }
    r = toe_send_reserve(fd, n, iov, 0);
    if (r < 0) {
        assert_int_equal(errno, EAGAIN);
        return 0;
    }
    assert_true(r > 0 && r <= (ssize_t)n);
    assert_int_equal(iov[0].iov_len + iov[1].iov_len, r);
    n = harness_random() % ((uint32_t)r + 1);
    write_pattern(iov, n, from);
    assert_int_equal(toe_send_commit(fd, n, harness_random() % 2 ? MSG_MORE : 0), n);
    return n;
}

/* Reads some available bytes, in place or by recv(); returns their number. */
static uint32_t read_some(int fd, uint32_t from)
{
    struct iovec iov[2];
    uint8_t in[1000];
    ssize_t r;
    uint32_t n;

    if (harness_random() % 4 == 0) {
        r = toe_recv(fd, in, sizeof(in), 0);
        assert_true(r > 0 || errno == EAGAIN);
        if (r > 0)
            check_pattern((struct iovec[2]){{in, (size_t)r}, {NULL, 0}}, (uint32_t)r, from);
        return r > 0 ? (uint32_t)r : 0;
    }
    r = toe_recv_peek(fd, iov, 0);
    if (r < 0) {
        assert_int_equal(errno, EAGAIN);
        return 0;
    }
    assert_true(r > 0);
    assert_int_equal(iov[0].iov_len + iov[1].iov_len, r);
    check_pattern(iov, (uint32_t)r, from);
    n = harness_random() % ((uint32_t)r + 1);
    assert_int_equal(toe_recv_consume(fd, n), n);
    return n;
}

static void the_stream_is_what_was_written(void **state)
{
    uint32_t sent = 0, got = 0, total = 500000;
    int fd[2];

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    harness_nonblock(fd[1]);
    while (got < total) {
        uint32_t n = 1 + harness_random() % (2 * TX_SIZE);

        if (sent < total)
            sent += send_some(fd[0], n < total - sent ? n : total - sent, sent);
        else if (sent == total && got < total) /* bytes held by MSG_MORE */
            toe_shutdown(fd[0], SHUT_WR), sent++;
        got += read_some(fd[1], got);
    }
    assert_int_equal(toe_send_commit(fd[0], 0, 0), -1);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void wrong_arguments_are_refused(void **state)
{
    struct iovec iov[2];
    int fd[2], k = toe_socket(AF_INET, SOCK_DGRAM, 0), l = harness_listener(7007);
    int s = toe_socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send_reserve(-1, 1, iov, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_recv_peek(9999, iov, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_send_reserve(k, 1, iov, 0), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(toe_recv_consume(k, 1), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(toe_send_reserve(s, 1, iov, 0), -1);
    assert_int_equal(errno, ENOTCONN);
    assert_int_equal(toe_recv_peek(s, iov, 0), -1);
    assert_int_equal(errno, ENOTCONN);
    assert_int_equal(toe_send_reserve(l, 1, iov, 0), -1);
    assert_int_equal(errno, ENOTCONN);
    assert_int_equal(toe_recv_peek(l, iov, 0), -1);
    assert_int_equal(errno, ENOTCONN);
    assert_int_equal(toe_send_reserve(fd[0], 1, iov, MSG_OOB), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv_peek(fd[0], iov, MSG_PEEK), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_reserve(fd[0], 1, NULL, 0), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(toe_recv_peek(fd[0], NULL, 0), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(toe_send_commit(fd[0], 0, 0), -1); /* nothing is reserved */
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv_consume(fd[0], 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_reserve(fd[0], 0, iov, 0), 0); /* nor is it by this */
    assert_int_equal(toe_send_commit(fd[0], 0, 0), -1);
    assert_int_equal(toe_send_reserve(fd[0], 10, iov, 0), 10);
    assert_int_equal(toe_send_commit(fd[0], 11, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_commit(fd[0], 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EINVAL);
    write_pattern(iov, 10, 0);
    assert_int_equal(toe_send_commit(fd[0], 10, 0), 10); /* it is still usable */
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), 10);
    assert_int_equal(toe_recv_consume(fd[1], 11), -1);
    assert_int_equal(errno, EINVAL);
    check_pattern(iov, 10, 0);
    assert_int_equal(toe_recv_consume(fd[1], 10), 10);
    toe_close(fd[0]);
    toe_close(fd[1]);
    toe_close(l);
    toe_close(s);
    toe_close(k);
}

static void nobody_else_sends_or_takes_meanwhile(void **state)
{
    struct iovec iov[2];
    char c[4];
    int fd[2], n, into[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(pipe(into), 0);
    assert_int_equal(toe_send_reserve(fd[0], 3, iov, 0), 3);
    assert_int_equal(toe_send(fd[0], "x", 1, 0), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(toe_send_reserve(fd[0], 1, iov, 0), -1);
    assert_int_equal(errno, EBUSY);
    memcpy(iov[0].iov_base, "abc", 3);
    assert_int_equal(toe_send_commit(fd[0], 0, 0), 0); /* abandoned: nothing is sent */
    assert_int_equal(toe_send(fd[0], "wxyz", 4, 0), 4);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), 4);
    assert_int_equal(toe_recv(fd[1], c, 4, 0), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(toe_splice(fd[1], NULL, into[1], NULL, 4, 0), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(toe_recv(fd[1], c, 4, MSG_PEEK), 4); /* takes nothing */
    assert_int_equal(toe_ioctl(fd[1], FIONREAD, &n), 0);
    assert_int_equal(n, 4);
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), 4); /* the same again */
    assert_int_equal(toe_recv_consume(fd[1], 1), 1);
    assert_int_equal(toe_recv(fd[1], c, 4, 0), 3);
    assert_memory_equal(c, "xyz", 3);
    toe_close(fd[0]);
    toe_close(fd[1]);
    close(into[0]);
    close(into[1]);
}

struct waiting {
    int fd;
    bool peeks;
    ssize_t r;
};

static void *wait_in_thread(void *arg)
{
    struct waiting *w = arg;
    struct iovec iov[2];

    w->r = w->peeks ? toe_recv_peek(w->fd, iov, 0) : toe_send_reserve(w->fd, SIZE_MAX, iov, 0);
    if (w->r > 0 && w->peeks)
        toe_recv_consume(w->fd, (size_t)w->r);
    else if (w->r > 0)
        toe_send_commit(w->fd, (size_t)w->r, 0);
    return NULL;
}

static void they_wait_and_do_not_as_told(void **state)
{
    struct timeval soon = {0, 20000}, never = {0, 0};
    struct waiting w = {.peeks = true};
    static char in[TX_SIZE + RX_SIZE];
    struct iovec iov[2];
    pthread_t t;
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_recv_peek(fd[1], iov, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), -1);
    assert_int_equal(errno, EAGAIN);
    toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
    w.fd = fd[1];
    assert_int_equal(pthread_create(&t, NULL, wait_in_thread, &w), 0);
    assert_int_equal(toe_send(fd[0], "hello", 5, 0), 5);
    pthread_join(t, NULL);
    assert_int_equal(w.r, 5);

    /* both buffers full: then room as soon as the other end has read */
    while (toe_send(fd[0], in, sizeof(in), MSG_DONTWAIT) > 0 || harness_wait(fd[1], POLLIN) == 0)
        ;
    while (toe_send_reserve(fd[0], SIZE_MAX, iov, MSG_DONTWAIT) > 0) {
        assert_true(toe_send_commit(fd[0], iov[0].iov_len + iov[1].iov_len, 0) > 0);
        poll(NULL, 0, 1); /* the data in flight arrives */
    }
    assert_int_equal(errno, EAGAIN);
    toe_setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
    w = (struct waiting){.fd = fd[0]};
    wait_in_thread(&w);
    if (w.r < 0)
        assert_int_equal(errno, EAGAIN);
    toe_setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &never, sizeof(never));
    assert_int_equal(pthread_create(&t, NULL, wait_in_thread, &w), 0);
    for (int i = 0; i < 10; i++)
        if (toe_recv(fd[1], in, sizeof(in), MSG_DONTWAIT) < 0)
            poll(NULL, 0, 1);
    pthread_join(t, NULL);
    assert_true(w.r > 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void ends_are_those_of_send_and_recv(void **state)
{
    struct iovec iov[2];
    int fd[2], on = 1;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send_reserve(fd[0], 5, iov, 0), 5);
    memcpy(iov[0].iov_base, "seven", 5);
    assert_int_equal(toe_send_commit(fd[0], 5, 0), 5);
    assert_int_equal(toe_send_reserve(fd[0], 5, iov, 0), 5);
    assert_int_equal(toe_shutdown(fd[0], SHUT_WR), 0);
    assert_int_equal(toe_send_commit(fd[0], 5, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(toe_send_commit(fd[0], 0, 0), -1); /* the reservation has ended */
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send_reserve(fd[0], 5, iov, 0), -1);
    assert_int_equal(errno, EPIPE);
    while (!(harness_wait(fd[1], POLLIN | POLLRDHUP) & POLLRDHUP))
        ;
    toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVLOWAT, &(int){100}, sizeof(int));
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), 5); /* these are the last bytes */
    assert_int_equal(toe_recv_consume(fd[1], 5), 5);
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), 0);
    assert_int_equal(toe_recv_consume(fd[1], 0), -1);
    assert_int_equal(errno, EINVAL);
    toe_setsockopt(fd[0], SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
    toe_close(fd[0]);
    toe_close(fd[1]);
    harness_slots(0);
}

/* The slot would go to another connection, and the claim would write into its bytes. */
static void a_reset_leaves_the_memory(void **state)
{
    struct linger hard = {1, 0};
    struct iovec tx[2], rx[2];
    int fd[2], other[2];
    char c[8];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], "words", 5, 0), 5);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_send_reserve(fd[0], TX_SIZE, tx, 0), TX_SIZE);
    assert_int_equal(toe_recv_peek(fd[0], rx, 0), 5);
    toe_setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    toe_close(fd[1]);
    harness_wait(fd[0], POLLHUP);
    harness_pair(other);
    memset(tx[0].iov_base, 'x', tx[0].iov_len);
    assert_int_equal(toe_send(other[0], "clean", 5, 0), 5);
    memset(tx[0].iov_base, 'y', tx[0].iov_len);
    assert_int_equal(toe_recv(other[1], c, sizeof(c), 0), 5);
    assert_memory_equal(c, "clean", 5);
    assert_memory_equal(rx[0].iov_base, "words", 5);
    assert_int_equal(toe_send_commit(fd[0], TX_SIZE, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_memory_equal(rx[0].iov_base, "words", 5);
    harness_slots(3); /* kept for reads in place */
    assert_int_equal(toe_recv_consume(fd[0], 5), 5);
    harness_slots(2);
    assert_int_equal(toe_recv_peek(fd[0], rx, 0), 0);
    toe_close(fd[0]);
    toe_close(other[0]);
    toe_close(other[1]);
    harness_slots(0);
}

static void close_ends_claims(void **state)
{
    struct iovec iov[2];
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], "words", 5, 0), 5);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_send_reserve(fd[0], 1, iov, 0), 1);
    assert_int_equal(toe_recv_peek(fd[0], iov, 0), 5);
    toe_close(fd[0]);
    toe_close(fd[1]);
    harness_slots(0);
}

static void memory_outlives_the_toe(void **state)
{
    struct iovec tx[2], rx[2];
    int fd[2];

    (void)state;
    if (harness_inline())
        skip(); /* a TOE that is part of the program does not die apart from it */
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], "words", 5, 0), 5);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_send_reserve(fd[0], SIZE_MAX, tx, 0), TX_SIZE);
    assert_int_equal(toe_recv_peek(fd[0], rx, 0), 5);
    assert_int_equal(toe_send_reserve(fd[1], 100, &tx[0], 0), 100);
    looptoe_kill(harness_toe());
    while (!(harness_wait(fd[1], POLLHUP) & POLLHUP))
        ;
    memset(tx[0].iov_base, 'x', tx[0].iov_len);
    assert_memory_equal(rx[0].iov_base, "words", 5);
    assert_int_equal(toe_send_commit(fd[0], 10, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_memory_equal(rx[0].iov_base, "words", 5);
    assert_int_equal(toe_recv_consume(fd[0], 2), 2);
    assert_int_equal(toe_recv_peek(fd[0], rx, 0), 0);
    toe_close(fd[1]);
    toe_close(fd[0]);
    harness_new_toe();
    harness_pair(fd);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void urgent_data_is_marked(void **state)
{
    struct iovec iov[2];
    char c[4];
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send_reserve(fd[0], 4, iov, 0), 4);
    memcpy(iov[0].iov_base, "abcU", 4);
    assert_int_equal(toe_send_commit(fd[0], 4, MSG_OOB), 4);
    assert_int_equal(toe_send(fd[0], "def", 3, 0), 3);
    while (!(harness_wait(fd[1], POLLPRI) & POLLPRI))
        ;
    assert_int_equal(toe_recv_peek(fd[1], iov, 0), 3); /* up to the mark */
    assert_memory_equal(iov[0].iov_base, "abc", 3);
    assert_int_equal(toe_recv_consume(fd[1], 3), 3);
    assert_int_equal(toe_recv(fd[1], c, 1, MSG_OOB), 1);
    assert_int_equal(c[0], 'U');
    while (toe_recv_peek(fd[1], iov, 0) < 3) /* after it */
        assert_int_equal(toe_recv_consume(fd[1], 0), 0);
    assert_memory_equal(iov[0].iov_base, "def", 3);
    assert_int_equal(toe_recv_consume(fd[1], 2), 2);
    assert_int_equal(toe_recv(fd[1], c, 4, 0), 1);
    assert_int_equal(c[0], 'f');
    toe_close(fd[0]);
    toe_close(fd[1]);
}

#define LOANS 20

struct lent {
    struct iovec iov[2];
    uint64_t loan;
    uint32_t from, n; /* n 0: none */
};

static void give_back(int fd, struct lent *l)
{
    if (!l->n)
        return;
    check_pattern(l->iov, l->n, l->from);
    assert_int_equal(toe_recv_return(fd, l->loan), 0);
    assert_int_equal(toe_recv_return(fd, l->loan), -1);
    assert_int_equal(errno, EINVAL);
    l->n = 0;
}

static void lent_bytes_stay_until_they_are_given_back(void **state)
{
    static struct lent lent[LOANS];
    uint32_t sent = 0, got = 0, total = 500000, idle = 0;
    int fd[2];

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    harness_nonblock(fd[1]);
    memset(lent, 0, sizeof(lent));
    while (got < total) {
        struct lent *l = &lent[harness_random() % LOANS];
        uint32_t before = got, n = 1 + harness_random() % 2000;

        if (sent < total)
            sent += send_some(fd[0], n < total - sent ? n : total - sent, sent);
        else if (sent == total)
            toe_shutdown(fd[0], SHUT_WR), sent++;
        if (harness_random() % 4 == 0)
            got += read_some(fd[1], got);
        give_back(fd[1], l);
        if (harness_random() % 3) {
            ssize_t r = toe_recv_borrow(fd[1], n, l->iov, &l->loan, 0);

            if (r <= 0)
                assert_true(r == 0 ? got == total : errno == EAGAIN);
            assert_true(r <= (ssize_t)n);
            l->n = r > 0 ? (uint32_t)r : 0;
            l->from = got;
            got += l->n;
        }
        idle = got == before ? idle + 1 : 0;
        if (idle > 200) /* all of the buffer may be lent */
            for (int i = 0; i < LOANS; i++)
                give_back(fd[1], &lent[i]);
    }
    for (int i = 0; i < LOANS; i++)
        give_back(fd[1], &lent[i]);
    toe_close(fd[0]);
    toe_close(fd[1]);
    harness_slots(0);
}

static void loans_that_are_none(void **state)
{
    struct iovec iov[2];
    uint64_t loan;
    int fd[2], k = toe_socket(AF_INET, SOCK_DGRAM, 0);

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_recv_return(fd[0], 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_recv_borrow(fd[0], 0, iov, &loan, 0), 0);
    assert_int_equal(toe_recv_return(fd[0], 0), -1);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan, MSG_PEEK), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, NULL, 0), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(toe_recv_borrow(k, 1, iov, &loan, 0), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(toe_recv_return(-1, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_send(fd[1], "bytes", 5, 0), 5);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_recv_peek(fd[0], iov, 0), 5);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan, 0), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(toe_recv_consume(fd[0], 0), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan, 0), 1);
    assert_int_equal(toe_recv_return(fd[0], loan + 1), -1);
    assert_int_equal(errno, EINVAL);
    toe_shutdown(fd[1], SHUT_WR);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan, 0), 0);
    /* the loans count as read: no reset */
    toe_close(fd[0]);
    assert_int_equal(toe_recv(fd[1], iov, 1, 0), 0);
    toe_close(fd[1]);
    toe_close(k);
    harness_slots(0);
}

static void the_number_of_loans_is_bounded(void **state)
{
    static char out[TX_SIZE];
    struct iovec iov[2];
    uint64_t loan, first = 0;
    int fd[2], n = 0;
    char c;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], out, sizeof(out), 0), sizeof(out));
    while (toe_recv_borrow(fd[0], 1, iov, &loan, 0) == 1) {
        first = n++ ? first : loan;
        assert_int_equal(toe_recv(fd[0], &c, 1, 0), 1);
    }
    assert_int_equal(errno, ENOBUFS);
    assert_in_range(n, 500, 1000);
    assert_int_equal(toe_recv_return(fd[0], first), 0);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan, 0), 1);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* The window does not open over loans, and opens when they are returned. */
static void what_is_lent_is_no_room_for_the_peer(void **state)
{
    static char in[RX_SIZE], out[TX_SIZE];
    struct iovec iov[2][2];
    uint64_t loan[2];
    int fd[2], flight;
    ssize_t n, all = 0;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], "first", 5, 0), 5);
    assert_int_equal(toe_recv_borrow(fd[0], 5, iov[0], &loan[0], 0), 5);
    for (int idle = 0; idle < 50; poll(NULL, 0, 1)) {
        n = toe_send(fd[1], out, sizeof(out), MSG_DONTWAIT);
        idle = n > 0 ? 0 : idle + 1;
        n = toe_recv(fd[0], in, sizeof(in), MSG_DONTWAIT);
        all += n > 0 ? n : 0;
    }
    assert_in_range(all, 1, RX_SIZE - 5);
    assert_memory_equal(iov[0][0].iov_base, "first", 5);
    assert_int_equal(toe_ioctl(fd[1], SIOCOUTQ, &flight), 0);
    assert_true(flight > 0);
    assert_int_equal(toe_recv_return(fd[0], loan[0]), 0);
    for (n = 0; n < flight;) {
        ssize_t r = toe_recv(fd[0], in, sizeof(in), 0);

        assert_true(r > 0);
        n += r;
    }
    toe_close(fd[0]);
    toe_close(fd[1]);
}

struct borrower {
    int fd;
    struct iovec iov[2];
    uint64_t loan;
};

static void *borrow_in_thread(void *arg)
{
    struct borrower *b = arg;

    assert_int_equal(toe_recv_borrow(b->fd, 5, b->iov, &b->loan, 0), 5);
    return NULL;
}

static void no_matter(int sig)
{
    (void)sig;
}

struct patient {
    int fd, err;
    ssize_t r;
};

static void *borrow_until_signal(void *arg)
{
    struct patient *b = arg;
    struct iovec iov[2];
    uint64_t loan;

    b->r = toe_recv_borrow(b->fd, SIZE_MAX, iov, &loan, 0);
    b->err = errno;
    return NULL;
}

/* A thread that waited for more and is interrupted does not get bytes that another thread has read.
 */
static void what_another_has_read_is_not_lent(void **state)
{
    struct sigaction act = {.sa_handler = no_matter}, old;
    struct patient b = {.r = 0};
    int fd[2], lowat = 100;
    pthread_t t;
    char in[20];

    (void)state;
    harness_pair(fd);
    assert_int_equal(sigaction(SIGUSR1, &act, &old), 0);
    toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
    assert_int_equal(toe_send(fd[0], "0123456789", 10, 0), 10);
    while (toe_recv(fd[1], in, sizeof(in), MSG_PEEK | MSG_DONTWAIT) != 10)
        ;
    b.fd = fd[1];
    assert_int_equal(pthread_create(&t, NULL, borrow_until_signal, &b), 0);
    poll(NULL, 0, 50); /* it sleeps */
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_DONTWAIT), 10);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    assert_int_equal(b.r, -1);
    assert_int_equal(b.err, EINTR);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    sigaction(SIGUSR1, &old, NULL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* A thread's loans belong to the socket, and a child's exit does not affect its parent's. */
static void loans_outlive_a_thread_and_a_child(void **state)
{
    struct borrower b;
    pthread_t t;
    int fd[2], status;
    pid_t child;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], "words", 5, 0), 5);
    harness_wait(fd[0], POLLIN);
    b.fd = fd[0];
    assert_int_equal(pthread_create(&t, NULL, borrow_in_thread, &b), 0);
    pthread_join(t, NULL);
    child = fork();
    if (child == 0)
        _exit(toe_recv_return(fd[0], b.loan) == -1 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_memory_equal(b.iov[0].iov_base, "words", 5);
    assert_int_equal(toe_recv_return(fd[0], b.loan), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
    harness_slots(0);
}

/* A child uses the connection: loans can still be returned, and then give room. */
static void loans_outlive_that_it_is_shared(void **state)
{
    static char out[4 * RX_SIZE];
    struct iovec iov[2];
    uint64_t loan;
    int fd[2], status, has[2];
    size_t n;
    pid_t child;
    char b;

    (void)state;
    harness_pair(fd);
    assert_int_equal(pipe(has), 0);
    assert_int_equal(toe_send(fd[0], out, RX_SIZE / 2, 0), RX_SIZE / 2);
    assert_true(toe_recv_borrow(fd[1], SIZE_MAX, iov, &loan, 0) > 0);
    child = fork();
    if (child == 0) {
        toe_close(fd[0]);
        for (n = 0; n < sizeof(out) && toe_recv(fd[1], &b, 1, 0) == 1; n++)
            if (n == 0 && write(has[1], "", 1) != 1)
                break;
        _exit(n < sizeof(out) ? 1 : 0);
    }
    assert_int_equal(toe_send(fd[0], out, RX_SIZE / 4, 0), RX_SIZE / 4);
    for (struct pollfd p = {.fd = has[0], .events = POLLIN}; toe_poll(&p, 1, 5000) != 1;)
        fail_msg("the child has nothing");
    assert_int_equal(toe_recv_return(fd[1], loan), 0);
    assert_int_equal(toe_recv_return(fd[1], loan), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send(fd[0], out, sizeof(out), 0), sizeof(out));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
    close(has[0]);
    close(has[1]);
}

static void loans_outlive_a_reset(void **state)
{
    struct linger hard = {1, 0};
    struct iovec iov[2];
    uint64_t loan[2];
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[1], "words", 5, 0), 5);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_recv_borrow(fd[0], 3, iov, &loan[0], 0), 3);
    toe_setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    toe_close(fd[1]);
    harness_wait(fd[0], POLLHUP);
    assert_memory_equal(iov[0].iov_base, "wor", 3);
    assert_int_equal(toe_recv_borrow(fd[0], 9, iov, &loan[1], 0), 2);
    assert_memory_equal(iov[0].iov_base, "ds", 2);
    harness_slots(1);
    assert_int_equal(toe_recv_return(fd[0], loan[1]), 0);
    harness_slots(1);
    assert_int_equal(toe_recv_return(fd[0], loan[0]), 0);
    harness_slots(0);
    assert_int_equal(toe_recv_borrow(fd[0], 1, iov, &loan[0], 0), -1);
    assert_int_equal(errno, ECONNRESET);
    toe_close(fd[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(the_stream_is_what_was_written),
        TOE_TEST(wrong_arguments_are_refused),
        TOE_TEST(nobody_else_sends_or_takes_meanwhile),
        TOE_TEST(they_wait_and_do_not_as_told),
        TOE_TEST(ends_are_those_of_send_and_recv),
        TOE_TEST(a_reset_leaves_the_memory),
        TOE_TEST(close_ends_claims),
        TOE_TEST(memory_outlives_the_toe),
        TOE_TEST(urgent_data_is_marked),
        TOE_TEST(lent_bytes_stay_until_they_are_given_back),
        TOE_TEST(loans_that_are_none),
        TOE_TEST(the_number_of_loans_is_bounded),
        TOE_TEST(what_is_lent_is_no_room_for_the_peer),
        TOE_TEST(what_another_has_read_is_not_lent),
        TOE_TEST(loans_outlive_a_thread_and_a_child),
        TOE_TEST(loans_outlive_that_it_is_shared),
        TOE_TEST(loans_outlive_a_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
