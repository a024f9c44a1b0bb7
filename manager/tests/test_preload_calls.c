/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_preload_calls.c - every name that the preload layer interposes, on loopback. The program
 * does not use libtoe. A plain run proves that its expectations are Linux's; a run with the library
 * preloaded and no toed proves that the library changes nothing.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern ssize_t __read_chk(int, void *, size_t, size_t);
extern ssize_t __recv_chk(int, void *, size_t, size_t, int);
extern ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
extern int __poll_chk(struct pollfd *, nfds_t, int, size_t);
extern int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

#define SENTINEL 12345 /* errno before calls that must leave it alone */

struct pair {
    int listener, client, server;
};

static int listen_on_loopback(struct sockaddr_in *addr)
{
    socklen_t len = sizeof *addr;
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    memset(addr, 0, sizeof *addr);
    addr->sin_family = AF_INET;
    addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)addr, sizeof *addr), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)addr, &len), 0);
    return fd;
}

static int set_up(void **state)
{
    struct pair *p = malloc(sizeof *p);
    struct sockaddr_in addr;

    p->listener = listen_on_loopback(&addr);
    p->client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(p->client, (struct sockaddr *)&addr, sizeof addr), 0);
    p->server = accept(p->listener, NULL, NULL);
    assert_true(p->server >= 0);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *p = *state;

    close(p->client);
    close(p->server);
    close(p->listener);
    free(p);
    return 0;
}

static void expect(int fd, const char *text)
{
    char buf[64] = {0};

    assert_int_equal(recv(fd, buf, strlen(text), MSG_WAITALL), (ssize_t)strlen(text));
    assert_string_equal(buf, text);
}

/* shows: send, sendto, sendmsg, sendmmsg, write, writev, pwritev2, sendfile, sendfile64 */
static void test_each_way_to_send(void **state)
{
    struct pair *p = *state;
    struct iovec iov[2] = {{(char *)"ab", 2}, {(char *)"cd", 2}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    struct mmsghdr many[2] = {{msg, 0}, {msg, 0}};
    char name[] = "/tmp/toe_calls_XXXXXX";
    off_t at = 1;
    int file = mkstemp(name);

    assert_true(file >= 0);
    unlink(name);
    assert_int_equal(write(file, "0123456789", 10), 10);
    errno = SENTINEL;
    assert_int_equal(send(p->client, "send", 4, 0), 4);
    assert_int_equal(sendto(p->client, "sendto", 6, 0, NULL, 0), 6);
    assert_int_equal(sendmsg(p->client, &msg, 0), 4);
    assert_int_equal(sendmmsg(p->client, many, 2, 0), 2);
    assert_int_equal(write(p->client, "write", 5), 5);
    assert_int_equal(writev(p->client, iov, 2), 4);
    assert_int_equal(sendfile(p->client, file, &at, 4), 4);
    assert_int_equal(at, 5);
    assert_int_equal(sendfile64(p->client, file, &at, 100), 5);
    assert_int_equal(pwritev2(p->client, iov, 2, -1, 0), 4);
    assert_int_equal(errno, SENTINEL);
    expect(p->server, "sendsendtoabcdabcdabcdwriteabcd123456789abcd");
    assert_int_equal(many[1].msg_len, 4);
    assert_int_equal(pwritev2(p->client, iov, 2, 0, 0), -1);
    assert_int_equal(errno, ESPIPE);
    assert_int_equal(pwritev(p->client, iov, 2, 0), -1);
    assert_int_equal(errno, ESPIPE);
    assert_int_equal(pwrite(p->client, "x", 1, 0), -1);
    assert_int_equal(errno, ESPIPE);
    close(file);
}

/* shows: recv, recvfrom, recvmsg, recvmmsg, read, readv, preadv2, __read_chk, __recv_chk,
 * __recvfrom_chk */
static void test_each_way_to_receive(void **state)
{
    struct pair *p = *state;
    char a[2], b[2];
    struct iovec iov[2] = {{a, 2}, {b, 2}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    struct mmsghdr many[1] = {{msg, 0}};
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    char buf[8];

    assert_int_equal(send(p->client, "0123456789abcdefghijklmnopqrstuvwxyz", 36, 0), 36);
    assert_int_equal(recv(p->server, buf, 4, MSG_PEEK), 4);
    errno = SENTINEL;
    assert_int_equal(recv(p->server, buf, 4, 0), 4);
    assert_memory_equal(buf, "0123", 4);
    assert_int_equal(recvfrom(p->server, buf, 4, 0, (struct sockaddr *)&from, &len), 4);
    assert_int_equal(recvmsg(p->server, &msg, 0), 4);
    assert_memory_equal(b, "ab", 2);
    assert_int_equal(recvmmsg(p->server, many, 1, MSG_WAITFORONE, NULL), 1);
    assert_int_equal(many[0].msg_len, 4);
    assert_memory_equal(a, "cd", 2);
    assert_int_equal(read(p->server, buf, 4), 4);
    assert_int_equal(readv(p->server, iov, 2), 4);
    assert_int_equal(preadv2(p->server, iov, 2, -1, 0), 4);
    assert_memory_equal(b, "qr", 2);
    assert_int_equal(__read_chk(p->server, buf, 4, sizeof buf), 4);
    assert_int_equal(__recv_chk(p->server, buf, 2, sizeof buf, 0), 2);
    assert_int_equal(__recvfrom_chk(p->server, buf, 2, sizeof buf, 0, NULL, NULL), 2);
    assert_memory_equal(buf, "yz", 2);
    assert_int_equal(errno, SENTINEL);
    assert_int_equal(preadv2(p->server, iov, 2, 0, 0), -1);
    assert_int_equal(errno, ESPIPE);
    assert_int_equal(recv(p->server, buf, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

static void run_fortified(int which, int fd)
{
    char buf[16];
    struct pollfd pfd = {fd, POLLIN, 0};
    struct timespec now = {0, 0};

    switch (which) {
    case 0:
        __read_chk(fd, buf, 16, 8);
        break;
    case 1:
        __recv_chk(fd, buf, 16, 8, 0);
        break;
    case 2:
        __recvfrom_chk(fd, buf, 16, 8, 0, NULL, NULL);
        break;
    case 3:
        __poll_chk(&pfd, 2, 0, sizeof pfd);
        break;
    default:
        __ppoll_chk(&pfd, 2, &now, NULL, sizeof pfd);
    }
}

/* shows: __read_chk of too much, __recv_chk of too much */
static void test_fortified_names_stop_an_overflow(void **state)
{
    struct pair *p = *state;
    int which, status;

    assert_int_equal(send(p->client, "x", 1, 0), 1);
    for (which = 0; which < 5; which++) {
        pid_t pid = fork();

        if (pid == 0) {
            struct sigaction standard = {.sa_handler = SIG_DFL};

            sigaction(SIGABRT, &standard, NULL);
            close(STDERR_FILENO);
            run_fortified(which, p->server);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

/* shows: getsockname, getpeername, getsockopt, setsockopt, shutdown */
static void test_names_and_options(void **state)
{
    struct pair *p = *state;
    struct sockaddr_in a, b;
    socklen_t len = sizeof a;
    struct tcp_info info;
    int v = 1;

    errno = SENTINEL;
    assert_int_equal(getsockname(p->client, (struct sockaddr *)&a, &len), 0);
    assert_int_equal(getpeername(p->server, (struct sockaddr *)&b, &len), 0);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(setsockopt(p->client, IPPROTO_TCP, TCP_NODELAY, &v, sizeof v), 0);
    v = 0;
    len = sizeof v;
    assert_int_equal(getsockopt(p->client, IPPROTO_TCP, TCP_NODELAY, &v, &len), 0);
    assert_int_equal(v, 1);
    len = sizeof info;
    assert_int_equal(getsockopt(p->client, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    assert_int_equal(info.tcpi_state, TCP_ESTABLISHED);
    assert_int_equal(errno, SENTINEL);
    assert_int_equal(shutdown(p->client, SHUT_WR), 0);
    assert_int_equal(recv(p->server, &v, sizeof v, 0), 0);
}

/* shows: fcntl, fcntl64, ioctl */
static void test_descriptor_flags_and_ioctl(void **state)
{
    struct pair *p = *state;
    int v = 1, fd;

    assert_int_equal(fcntl(p->server, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(fcntl(p->server, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fcntl64(p->server, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(recv(p->server, &v, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    v = 0;
    assert_int_equal(ioctl(p->server, FIONBIO, &v), 0);
    assert_int_equal(fcntl(p->server, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(send(p->client, "abc", 3, 0), 3);
    expect(p->server, "a");
    assert_int_equal(ioctl(p->server, FIONREAD, &v), 0);
    assert_int_equal(v, 2);
    fd = fcntl(p->server, F_DUPFD_CLOEXEC, 100);
    assert_true(fd >= 100);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    expect(fd, "b");
    assert_int_equal(close(fd), 0);
    assert_int_equal(close(fd), -1);
    assert_int_equal(errno, EBADF);
    expect(p->server, "c");
    assert_int_equal(isatty(p->server), 0);
    assert_int_equal(errno, ENOTTY);
}

/* shows: dup, dup2, dup3 */
static void test_copies_lead_to_the_same_connection(void **state)
{
    struct pair *p = *state;
    int a = dup(p->server), b = dup2(p->server, 200), c = dup3(p->server, 201, O_CLOEXEC);

    assert_true(a >= 0);
    assert_int_equal(b, 200);
    assert_int_equal(c, 201);
    assert_int_equal(dup2(p->server, p->server), p->server);
    assert_int_equal(dup3(p->server, p->server, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(send(p->client, "abcd", 4, 0), 4);
    expect(a, "a");
    close(a);
    expect(b, "b");
    /* A descriptor over it closes the copy only. */
    assert_int_equal(dup2(STDERR_FILENO, 200), 200);
    close(200);
    expect(c, "c");
    close(c);
    expect(p->server, "d");
}

/* shows: splice */
static void test_splice(void **state)
{
    struct pair *p = *state;
    char got[8];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "pipe", 4), 4);
    assert_int_equal(splice(ends[0], NULL, p->client, NULL, 4, 0), 4);
    expect(p->server, "pipe");
    assert_int_equal(send(p->client, "pipe", 4, 0), 4);
    assert_int_equal(splice(p->server, NULL, ends[1], NULL, 100, 0), 4);
    assert_int_equal(read(ends[0], got, sizeof got), 4);
    assert_memory_equal(got, "pipe", 4);
    close(ends[0]);
    close(ends[1]);
}

/* shows: poll, ppoll, select, pselect, __poll_chk, __ppoll_chk */
static void test_poll_and_select(void **state)
{
    struct pair *p = *state;
    struct pollfd pfd[3] = {{p->server, POLLIN, 0}, {-1, POLLIN, 7}, {p->client, POLLOUT, 0}};
    struct timespec now = {0, 0};
    struct timeval tv = {0, 0};
    fd_set r, w;

    assert_int_equal(poll(pfd, 1, 0), 0);
    assert_int_equal(poll(pfd, 3, 0), 1);
    assert_int_equal(pfd[1].revents, 0);
    assert_int_equal(pfd[2].revents, POLLOUT);
    assert_int_equal(send(p->client, "x", 1, 0), 1);
    assert_int_equal(poll(pfd, 1, -1), 1);
    assert_int_equal(poll(pfd, 3, -1), 2);
    assert_int_equal(ppoll(pfd, 3, &now, NULL), 2);
    assert_int_equal(__poll_chk(pfd, 3, 0, sizeof pfd), 2);
    assert_int_equal(__ppoll_chk(pfd, 3, &now, NULL, sizeof pfd), 2);
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_SET(p->server, &r);
    FD_SET(p->client, &r);
    FD_SET(p->client, &w);
    assert_int_equal(select(p->server + p->client + 1, &r, &w, NULL, &tv), 2);
    assert_true(FD_ISSET(p->server, &r) && !FD_ISSET(p->client, &r) && FD_ISSET(p->client, &w));
    assert_int_equal(pselect(p->server + p->client + 1, &r, &w, NULL, &now, NULL), 2);
    pfd[0].fd = 199;
    assert_int_equal(poll(pfd, 1, 0), 1);
    assert_int_equal(pfd[0].revents, POLLNVAL);
    FD_ZERO(&r);
    FD_SET(199, &r);
    assert_int_equal(select(200, &r, NULL, NULL, &tv), -1);
    assert_int_equal(errno, EBADF);
    tv.tv_usec = -1;
    assert_int_equal(select(1, NULL, NULL, NULL, &tv), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(select(-1, NULL, NULL, NULL, NULL), -1);
    assert_int_equal(errno, EINVAL);
}

/* shows: select time left */
static void test_select_tells_the_time_left(void **state)
{
    struct timeval tv = {600, 1500000};
    struct pair *p = *state;
    fd_set w;

    FD_ZERO(&w);
    FD_SET(p->client, &w);
    assert_int_equal(select(p->client + 1, NULL, &w, NULL, &tv), 1);
    assert_in_range(tv.tv_sec, 300, 601); /* the microseconds are carried */
    assert_true(tv.tv_usec < 1000000);
}

/* shows: epoll_create, epoll_create1, epoll_ctl, epoll_wait, epoll_pwait, epoll_pwait2 */
static void test_epoll(void **state)
{
    struct pair *p = *state;
    struct timespec now = {0, 0}, soon = {0, 300000}, bad[] = {{-1, 0}, {0, -1}, {0, 1000000000}};
    struct timespec t0, t1;
    long took, shortest = LONG_MAX;
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 77}, got[2];
    int ep = epoll_create(1), ep1 = epoll_create1(EPOLL_CLOEXEC);

    assert_true(ep >= 0 && ep1 >= 0);
    assert_int_equal(epoll_create(0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, p->server, &ev), 0);
    assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, p->server, &ev), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(epoll_wait(ep, got, 2, 0), 0);
    /* Not before its time; of so many one is not late either, as all would be if in milliseconds.
     */
    for (unsigned i = 0; i < 2000 && shortest >= 1000000; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t0);
        assert_int_equal(epoll_pwait2(ep, got, 2, &soon, NULL), 0);
        clock_gettime(CLOCK_MONOTONIC, &t1);
        took = (t1.tv_sec - t0.tv_sec) * 1000000000 + t1.tv_nsec - t0.tv_nsec;
        assert_true(took >= soon.tv_nsec);
        shortest = took < shortest ? took : shortest;
    }
    assert_true(shortest < 1000000);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(epoll_pwait2(ep, got, 2, &bad[i], NULL), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_int_equal(send(p->client, "x", 1, 0), 1);
    assert_int_equal(epoll_wait(ep, got, 2, -1), 1);
    assert_int_equal(got[0].data.u64, 77);
    assert_int_equal(epoll_pwait(ep, got, 2, 0, NULL), 1);
    assert_int_equal(epoll_pwait2(ep, got, 2, &now, NULL), 1);
    ev.events = EPOLLIN | EPOLLOUT | EPOLLONESHOT;
    assert_int_equal(epoll_ctl(ep, EPOLL_CTL_MOD, p->server, &ev), 0);
    assert_int_equal(epoll_wait(ep, got, 2, 0), 1);
    assert_int_equal(got[0].events, EPOLLIN | EPOLLOUT);
    assert_int_equal(epoll_wait(ep, got, 2, 0), 0);
    assert_int_equal(epoll_ctl(ep, EPOLL_CTL_DEL, p->server, NULL), 0);
    assert_int_equal(epoll_ctl(ep, EPOLL_CTL_DEL, p->server, NULL), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(epoll_wait(ep, got, 0, 0), -1);
    assert_int_equal(errno, EINVAL);
    close(ep);
    close(ep1);
}

/* Children report by their exit code; 0 is success. */
static void expect_child_well(pid_t pid)
{
    int status;

    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* shows: close_range, closefrom */
static void test_close_range_and_closefrom(void **state)
{
    struct pair *p = *state;
    pid_t pid;

    pid = fork();
    if (pid == 0) {
        int high = fcntl(STDERR_FILENO, F_DUPFD, 300);

        if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) || fcntl(high, F_GETFD) != FD_CLOEXEC ||
            fcntl(p->client, F_GETFD) != FD_CLOEXEC)
            _exit(1);
        if (close_range(3, 299, 0) || fcntl(high, F_GETFD) < 0 || fcntl(p->client, F_GETFD) >= 0)
            _exit(2);
        if (close_range(9, 3, 0) != -1 || errno != EINVAL || close_range(3, 9, 1u << 30) != -1)
            _exit(3);
        closefrom(3);
        _exit(fcntl(high, F_GETFD) >= 0 ? 4 : 0);
    }
    expect_child_well(pid);
    assert_int_equal(send(p->client, "x", 1, 0), 1);
    expect(p->server, "x");
}

static void test_sockets_work_after_every_number_was_closed(void **state)
{
    pid_t pid = fork();
    int fd;

    (void)state;
    if (pid == 0) {
        struct pair *p;

        for (fd = 3; fd < 4096; fd++)
            close(fd);
        set_up((void **)&p);
        if (send(p->client, "x", 1, 0) != 1 || recv(p->server, &fd, 1, 0) != 1)
            _exit(1);
        _exit(0);
    }
    expect_child_well(pid);
}

/* shows: vfork */
static void test_a_child_of_vfork_closes_its_own(void **state)
{
    struct pair *p = *state;
    volatile int client = p->client, server = p->server, listener = p->listener;
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork): tests what
     * programs do after vfork */
    pid_t pid = vfork();

    if (pid == 0) {
        close(client);
        dup2(STDERR_FILENO, server);
        close_range((unsigned)listener, (unsigned)listener, 0);
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork) */
    expect_child_well(pid);
    assert_int_equal(send(p->client, "x", 1, 0), 1);
    expect(p->server, "x");
    assert_true(fcntl(p->listener, F_GETFD) >= 0);
}

/* shows: socket, connect, accept4 */
static void test_a_child_of_fork_accepts(void **state)
{
    struct sockaddr_in addr;
    int listener = listen_on_loopback(&addr), client;
    pid_t pid = fork();
    char c = 0;

    (void)state;
    if (pid == 0) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        _exit(fd >= 0 && send(fd, "f", 1, 0) == 1 ? 0 : 1);
    }
    client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(recv(client, &c, 1, 0), 1);
    assert_int_equal(c, 'f');
    expect_child_well(pid);
    close(client);
    close(listener);
}

/* shows: posix_spawn */
static void test_programs_started_keep_the_preload(void **state)
{
    const char *preload = getenv("LD_PRELOAD");
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"test \"$LD_PRELOAD\" = \"$WANTED\"", NULL};
    pid_t pid;

    (void)state;
    setenv("WANTED", preload ? preload : "", 1);
    assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
    expect_child_well(pid);
    pid = fork();
    if (pid == 0) {
        execvp("sh", argv);
        _exit(1);
    }
    expect_child_well(pid);
}

/* Control data that claims more than its buffer holds: EINVAL, and nothing beyond the buffer is
 * touched. */
static void test_control_data_longer_than_its_buffer(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *area = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec iov = {(char *)"x", 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    struct cmsghdr c = {1 << 20, SOL_SOCKET, SCM_RIGHTS};
    int ends[2];

    (void)state;
    assert_ptr_not_equal(area, MAP_FAILED);
    assert_int_equal(mprotect(area + page, page, PROT_NONE), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    m.msg_controllen = CMSG_SPACE(sizeof(int));
    m.msg_control = area + page - m.msg_controllen;
    memcpy(m.msg_control, &c, sizeof c);
    assert_int_equal(sendmsg(ends[0], &m, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sendmsg(ends[0], NULL, 0), -1);
    assert_int_equal(errno, EFAULT);
    close(ends[0]);
    close(ends[1]);
    munmap(area, 2 * page);
}

/* A library that the program loads, outside the scope of RTLD_NEXT. */
static void test_liburing_that_dlopen_brought(void **state)
{
    const char *path = getenv("LIBURING");
    void *library, *found;
    int (*queue_init)(unsigned, void *, unsigned);

    (void)state;
    if (!path)
        skip();
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    found = dlsym(RTLD_DEFAULT, "io_uring_queue_init");
    if (!found)
        found = dlsym(library, "io_uring_queue_init");
    assert_non_null(found);
    memcpy(&queue_init, &found, sizeof found);
    assert_int_equal(queue_init(8, NULL, 0), 4711);
    dlclose(library);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void install(int flags)
{
    struct sigaction act = {.sa_handler = count_signal, .sa_flags = flags};

    assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
}

struct nudge {
    pthread_t whom;
    int fd;
    volatile int stop;
};

/* Sends signals until stopped: the first may come before the other thread sleeps. */
static void *keep_signalling(void *arg)
{
    struct nudge *n = arg;
    struct timespec ms = {0, 1000000};

    while (!n->stop) {
        pthread_kill(n->whom, SIGUSR1);
        nanosleep(&ms, NULL);
    }
    return NULL;
}

static void *signal_then_send(void *arg)
{
    struct nudge *n = arg;
    struct timespec ms = {0, 1000000};
    int i;

    for (i = 0; i < 20; i++) {
        pthread_kill(n->whom, SIGUSR1);
        nanosleep(&ms, NULL);
    }
    assert_int_equal(send(n->fd, "x", 1, 0), 1);
    return NULL;
}

/* shows: accept EINTR, poll EINTR, select EINTR, epoll_wait EINTR */
static void test_signals_interrupt_what_blocks(void **state)
{
    struct pair *p = *state;
    struct pollfd pfd = {p->server, POLLIN, 0};
    struct epoll_event ev = {.events = EPOLLIN};
    int ep = epoll_create1(0), i, r[6], e[6];
    struct nudge n = {pthread_self(), p->client, 0};
    pthread_t thread;
    fd_set set;
    char c;

    epoll_ctl(ep, EPOLL_CTL_ADD, p->server, &ev);
    install(0);
    pthread_create(&thread, NULL, keep_signalling, &n);
    for (i = 0; i < 6; i++) {
        FD_ZERO(&set);
        FD_SET(p->server, &set);
        r[i] = i == 0   ? (int)recv(p->server, &c, 1, 0)
               : i == 1 ? accept(p->listener, NULL, NULL)
               : i == 2 ? poll(&pfd, 1, -1)
               : i == 3 ? select(p->server + 1, &set, NULL, NULL, NULL)
               : i == 4 ? epoll_wait(ep, &ev, 1, -1)
                        : (int)read(p->server, &c, 1);
        e[i] = errno;
    }
    n.stop = 1;
    pthread_join(thread, NULL);
    for (i = 0; i < 6; i++) {
        assert_int_equal(r[i], -1);
        assert_int_equal(e[i], EINTR);
    }
    close(ep);
}

static void test_a_restarting_signal_does_not_end_recv(void **state)
{
    struct pair *p = *state;
    struct nudge n = {pthread_self(), p->client, 0};
    pthread_t thread;
    char c;

    install(SA_RESTART);
    pthread_create(&thread, NULL, signal_then_send, &n);
    assert_int_equal(recv(p->server, &c, 1, 0), 1);
    pthread_join(thread, NULL);
    assert_true(signals > 0);
}

static void *block_in_read(void *arg)
{
    struct pair *p = arg;
    char c;

    return read(p->server, &c, 1) == 1 ? p : NULL;
}

/* shows: recv as a cancellation point */
static void test_a_blocked_thread_can_be_cancelled(void **state)
{
    struct timespec ms = {0, 1000000};
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, block_in_read, *state);
    nanosleep(&ms, NULL);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

int main(void)
{
#define WITH_PAIR(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_PAIR(test_each_way_to_send),
        WITH_PAIR(test_each_way_to_receive),
        WITH_PAIR(test_fortified_names_stop_an_overflow),
        WITH_PAIR(test_names_and_options),
        WITH_PAIR(test_descriptor_flags_and_ioctl),
        WITH_PAIR(test_copies_lead_to_the_same_connection),
        WITH_PAIR(test_splice),
        WITH_PAIR(test_poll_and_select),
        WITH_PAIR(test_select_tells_the_time_left),
        WITH_PAIR(test_epoll),
        WITH_PAIR(test_close_range_and_closefrom),
        cmocka_unit_test(test_sockets_work_after_every_number_was_closed),
        WITH_PAIR(test_a_child_of_vfork_closes_its_own),
        cmocka_unit_test(test_a_child_of_fork_accepts),
        cmocka_unit_test(test_programs_started_keep_the_preload),
        cmocka_unit_test(test_control_data_longer_than_its_buffer),
        cmocka_unit_test(test_liburing_that_dlopen_brought),
        WITH_PAIR(test_signals_interrupt_what_blocks),
        WITH_PAIR(test_a_restarting_signal_does_not_end_recv),
        WITH_PAIR(test_a_blocked_thread_can_be_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
