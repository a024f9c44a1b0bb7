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

#include "pattern.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
