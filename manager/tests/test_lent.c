/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lent.c - toe_recv_borrow/return (toe.h): lent bytes stay until they are returned, whatever
 * happens to the connection, the thread or the TOE.
 */
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"

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
    for (int idle = 0; !all || idle < 50; poll(NULL, 0, 1)) {
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
    _Atomic pid_t tid; /* set when it runs */
    atomic_bool done;
};

static void *borrow_until_signal(void *arg)
{
    struct patient *b = arg;
    struct iovec iov[2];
    uint64_t loan;

    atomic_store(&b->tid, gettid());
    b->r = toe_recv_borrow(b->fd, SIZE_MAX, iov, &loan, 0);
    b->err = errno;
    atomic_store(&b->done, true);
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
    while (!atomic_load(&b.tid))
        poll(NULL, 0, 1);
    harness_await_sleep(atomic_load(&b.tid));
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_DONTWAIT), 10);
    for (; !atomic_load(&b.done); poll(NULL, 0, 1)) /* one outside of the sleep ends nothing */
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
    for (struct pollfd p = {.fd = has[0], .events = POLLIN};
         toe_poll(&p, 1, HARNESS_PATIENCE_MS) != 1;)
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
