/* SPDX-License-Identifier: Apache-2.0 */
/* test_life.c - start, fork, and the reaction of libtoe when the TOE dies or misbehaves. */
#include "harness.h"

static void death_resets_and_restart_serves(void **state)
{
    int l = harness_listener(7200), c = harness_connect(7200), s = toe_accept(l, NULL, NULL),
        status;
    char b;
    pid_t pid;

    (void)state;
    looptoe_kill(harness_toe());
    assert_int_equal(toe_recv(s, &b, 1, 0),
                     -1); /* sleeping: the end of the control socket wakes it */
    assert_int_equal(errno, ECONNRESET);
    assert_true(harness_wait(c, POLLIN) & POLLHUP);
    assert_int_equal(toe_send(c, "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(toe_send(c, "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    toe_close(c);
    toe_close(s);
    harness_new_toe();
    pid = fork();
    if (pid == 0) { /* a separate client; the wait announces the listener again */
        struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 7200);

        for (int i = 0; i < HARNESS_PATIENCE_MS / 10; i++) {
            int k = toe_socket(AF_INET, SOCK_STREAM, 0);

            if (toe_connect(k, (struct sockaddr *)&a, sizeof(a)) == 0)
                _exit(toe_send(k, "!", 1, 0) != 1 || toe_recv(k, &b, 1, 0) != 0);
            toe_close(k);
            usleep(10000);
        }
        _exit(2);
    }
    s = toe_accept(l, NULL, NULL);
    assert_true(s >= 0);
    assert_int_equal(toe_recv(s, &b, 1, 0), 1);
    toe_close(s);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    toe_close(l);
}

static void death_is_seen_in_a_waiting_epoll(void **state)
{
    struct epoll_event e = {.events = EPOLLIN};
    int fd[2], ep = toe_epoll_create1(0), status;
    pid_t pid;

    (void)state;
    harness_pair(fd);
    toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e);
    pid = fork();
    if (pid == 0) {
        usleep(20000);
        kill(harness_toe(), SIGKILL);
        _exit(0);
    }
    assert_int_equal(toe_epoll_wait(ep, &e, 1, HARNESS_PATIENCE_MS), 1);
    assert_true(e.events & EPOLLHUP);
    waitpid(pid, &status, 0);
    looptoe_kill(harness_toe());
    toe_close(ep);
    toe_close(fd[0]);
    toe_close(fd[1]);
    harness_new_toe();
}

static void bytes_lost_with_the_toe_are_no_end_of_stream(void **state)
{
    int fd[2];
    char b;

    (void)state;
    harness_pair(fd);
    toe_send(fd[0], "x", 1, 0);
    toe_close(fd[0]);
    harness_wait(fd[1], POLLIN);
    looptoe_kill(harness_toe());
    while (!(harness_wait(fd[1], POLLIN) & POLLERR))
        ;
    assert_int_equal(toe_recv(fd[1], &b, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    toe_close(fd[1]);
    harness_new_toe();
}

static void breaches_of_the_contract(void **state)
{
    static const uint16_t ports[] = {LOOPTOE_OVERRUN, LOOPTOE_UNKNOWN, LOOPTOE_BADSLOT,
                                     LOOPTOE_OVERACK};

    (void)state;
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        int c = harness_connect_async(ports[i]), fd[2], error = 0;
        socklen_t len = sizeof(error);

        while (!(harness_wait(c, POLLIN) & POLLERR))
            ;
        assert_int_equal(toe_getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &len), 0);
        assert_int_equal(error, ECONNRESET);
        toe_close(c);
        usleep(110000); /* libtoe attaches again, after a while */
        harness_pair(fd);
        toe_close(fd[0]);
        toe_close(fd[1]);
    }
}

static void child_of_fork_serves_the_listener(void **state)
{
    int l = harness_listener(7201), c, status;
    struct looptoe_usage u;
    char b;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        int s = toe_accept(l, NULL, NULL);

        if (s < 0 || toe_recv(s, &b, 1, 0) != 1 || toe_send(s, &b, 1, 0) != 1)
            _exit(1);
        toe_recv(s, &b, 1, 0);
        toe_close(s);
        exit(0);
    }
    /* until the child has announced its own, the parent's listener remains, but weak */
    do
        assert_int_equal(looptoe_usage(harness_path(), &u), 0);
    while (u.listeners < 2 * harness_engines());
    c = harness_connect(7201);
    assert_int_equal(toe_send(c, "f", 1, 0), 1);
    assert_int_equal(toe_recv(c, &b, 1, 0), 1);
    assert_int_equal(b, 'f');
    toe_close(c);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    do /* the TOE may hear of its end after the next command of ours */
        assert_int_equal(looptoe_usage(harness_path(), &u), 0);
    while (u.listeners != harness_engines());
    c = harness_connect_async(7201); /* the child has exited: the parent accepts instead */
    assert_true(toe_close(toe_accept(l, NULL, NULL)) == 0);
    toe_close(c);
    toe_close(l);
}

static void a_child_that_closes_ends_nothing(void **state)
{
    int fd[2], status;
    char b;
    pid_t pid;

    (void)state;
    harness_pair(fd);
    pid = fork();
    if (pid == 0) {
        toe_close(fd[0]);
        toe_close(fd[1]);
        exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(toe_send(fd[0], "p", 1, 0), 1);
    assert_int_equal(toe_recv(fd[1], &b, 1, 0), 1);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* A server that forks for each connection: the parent closes, the child serves, in both ways and
 * to both ends. */
static void a_child_serves_the_parents_connection(void **state)
{
    static uint8_t out[300000], in[sizeof(out)];
    size_t sent = 0, got = 0;
    int fd[2], status;
    pid_t pid;
    char b;

    (void)state;
    harness_pair(fd);
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = (uint8_t)harness_random();
    pid = fork();
    if (pid == 0) {
        ssize_t n;

        toe_close(fd[0]);
        while ((n = toe_recv(fd[1], in, sizeof(in), 0)) > 0)
            for (ssize_t k = 0, w; k < n; k += w)
                if ((w = toe_send(fd[1], in + k, (size_t)(n - k), 0)) < 0)
                    _exit(1);
        _exit(n == 0 ? 0 : 2);
    }
    toe_close(fd[1]);
    harness_nonblock(fd[0]);
    while (got < sizeof(out)) {
        ssize_t n = toe_send(fd[0], out + sent, sizeof(out) - sent, 0);

        sent += n > 0 ? (size_t)n : 0;
        n = toe_recv(fd[0], in + got, sizeof(in) - got, 0);
        assert_true(n > 0 || errno == EAGAIN);
        got += n > 0 ? (size_t)n : 0;
        if (n < 0)
            harness_wait(fd[0], POLLIN);
    }
    assert_memory_equal(in, out, sizeof(out));
    assert_int_equal(toe_shutdown(fd[0], SHUT_WR), 0);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_recv(fd[0], &b, 1, 0), 0); /* the child has ended */
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    toe_close(fd[0]);
}

/* nginx's master: connections between listen() and fork() wait for a server, here the process
 * itself. */
static void what_nobody_took_before_fork_waits(void **state)
{
    struct looptoe_usage before, after;
    int l = harness_listener(7203), first = harness_connect(7203), c, status;
    pid_t pid;

    assert_int_equal(looptoe_usage(harness_path(), &before), 0);
    pid = fork();
    (void)state;
    if (pid == 0)
        _exit(0);
    waitpid(pid, &status, 0);
    assert_int_equal(looptoe_usage(harness_path(), &after), 0);
    assert_int_equal(after.ports_left, before.ports_left); /* no connection is refused in between */
    c = harness_connect_async(7203);                       /* later ones wait as well */
    assert_int_equal(toe_close(toe_accept(l, NULL, NULL)), 0);
    assert_int_equal(toe_close(toe_accept(l, NULL, NULL)), 0);
    toe_close(first);
    toe_close(c);
    toe_close(l);
}

/* The child of this fork resumes only once the parent has returned too: until then the listener
 * accepts connections as before. */
static pid_t fork_in_step(void)
{
    int p[2];
    char b = 0;
    pid_t pid;

    assert_int_equal(pipe(p), 0);
    pid = fork();
    if (pid == 0)
        (void)!read(p[0], &b, 1);
    else
        assert_int_equal(write(p[1], &b, 1), 1);
    close(p[0]);
    close(p[1]);
    return pid;
}

static void exit_closes_in_order(void **state)
{
    int l = harness_listener(7202), s, status;
    char b[8];
    pid_t pid = fork_in_step();

    (void)state;
    if (pid == 0) {
        int c = harness_connect(7202);

        toe_send(c, "bye", 3, 0);
        exit(0); /* no close() */
    }
    s = toe_accept(l, NULL, NULL);
    waitpid(pid, &status, 0);
    assert_int_equal(toe_recv(s, b, 8, MSG_WAITALL), 3);
    assert_int_equal(toe_recv(s, b, 8, 0), 0);
    toe_close(s);
    pid = fork_in_step();
    if (pid == 0) {
        harness_connect(7202);
        raise(SIGKILL);
    }
    s = toe_accept(l, NULL, NULL);
    waitpid(pid, &status, 0);
    assert_int_equal(toe_recv(s, b, 8, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    toe_close(s);
    toe_close(l);
}

/* Runs in a child with separate settings and stderr; returns its stderr and its status. */
static int in_child(int (*f)(void), char *err, size_t size)
{
    int p[2], status;
    ssize_t n, all = 0;
    pid_t pid;

    assert_int_equal(pipe(p), 0);
    pid = fork();
    if (pid == 0) {
        dup2(p[1], 2);
        close(p[0]);
        _exit(f());
    }
    close(p[1]);
    while ((n = read(p[0], err + all, size - 1 - (size_t)all)) > 0)
        all += n;
    err[all] = 0;
    close(p[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int two_kernel_listeners(void)
{
    setenv("TOEHOLD_SOCKET", "/nonexistent/toed.sock", 1);
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in a = harness_address("0.0.0.0", 0);
        int l = toe_socket(AF_INET, SOCK_STREAM, 0);

        if (toe_bind(l, (struct sockaddr *)&a, sizeof(a)) || toe_listen(l, 1) ||
            toe_is_offloaded(l))
            return 1;
    }
    return 0;
}

static int refused_listener(void)
{
    struct sockaddr_in a = harness_address("0.0.0.0", 0);
    int l = toe_socket(AF_INET, SOCK_STREAM, 0);

    setenv("TOEHOLD_SOCKET", "/nonexistent/toed.sock", 1);
    setenv("TOEHOLD_REQUIRE", "1", 1);
    toe_bind(l, (struct sockaddr *)&a, sizeof(a));
    return toe_listen(l, 1) == -1 && errno == ENETDOWN ? 0 : 1;
}

/* With any wrong setting, TOEHOLD_REQUIRE still prevents the fallback to the kernel. */
static int wrong_and_required(void)
{
    static const char *const wrong[][2] = {
        {"TOEHOLD_ZEROCOPY_MIN", "abc"}, {"TOEHOLD_HOLD_MIN", "-1"},    {"TOEHOLD_SLOTS", "3"},
        {"TOEHOLD_ENGINE", "here"},      {"TOEHOLD_INLINE_BATCH", "2"}, {"TOEHOLD_REQUIRE", "yes"}};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            struct sockaddr_in a = harness_address("0.0.0.0", 0);
            int l = toe_socket(AF_INET, SOCK_STREAM, 0);

            setenv("TOEHOLD_REQUIRE", "1", 1);
            setenv(wrong[i][0], wrong[i][1], 1);
            (void)toe_bind(l, (struct sockaddr *)&a, sizeof(a));
            _exit(toe_listen(l, 1) == -1 && errno == ENETDOWN ? 0 : 1);
        }
        if (waitpid(pid, &status, 0) != pid || status)
            return 1 + (int)i;
    }
    return 0;
}

static void no_daemon(void **state)
{
    char err[2048], *first;

    (void)state;
    assert_int_equal(in_child(two_kernel_listeners, err, sizeof(err)), 0);
    first = strstr(err, "/nonexistent/toed.sock");
    assert_non_null(first);
    assert_null(strstr(first + 1, "/nonexistent/toed.sock")); /* reported once */
    assert_non_null(strstr(err, "kernel"));
    assert_int_equal(in_child(refused_listener, err, sizeof(err)), 0);
    assert_non_null(strstr(err, "TOEHOLD_REQUIRE"));
}

static int bad_slots(void)
{
    /* the second wraps to 8192 */
    static const char *const wrong[] = {
        " 8192",      " -18446744073709543424", "-8192", "+8192", "8192 ", "0x2000", "8k",
        "4294975488", "99999999999999999999"};

    setenv("TOEHOLD_SLOTS", "100", 1);
    if (toe_init(NULL) != -1 || errno != EINVAL)
        return 1;
    fprintf(stderr, "%s\n", toe_last_error());
    setenv("TOEHOLD_SLOTS", "", 1);
    setenv("TOEHOLD_RX_SIZE", "1", 1);
    if (toe_init(NULL) != -1)
        return 1;
    fprintf(stderr, "%s\n", toe_last_error());
    setenv("TOEHOLD_RX_SIZE", "many", 1);
    if (toe_init(NULL) != -1)
        return 1;
    fprintf(stderr, "%s\n", toe_last_error());
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        setenv("TOEHOLD_RX_SIZE", wrong[i], 1);
        if (toe_init(NULL) != -1 || !strstr(toe_last_error(), "is not a number"))
            return 2 + (int)i;
    }
    unsetenv("TOEHOLD_RX_SIZE");
    setenv("TOEHOLD_REQUIRE", "yes", 1);
    if (toe_init(NULL) != -1)
        return 1;
    fprintf(stderr, "%s\n", toe_last_error());
    unsetenv("TOEHOLD_REQUIRE");
    return toe_init(&(struct toe_options){.slots = 8}) ? 1 : 0;
}

static void settings_are_checked(void **state)
{
    char err[2048];

    (void)state;
    assert_int_equal(in_child(bad_slots, err, sizeof(err)), 0);
    assert_non_null(strstr(err, "TOEHOLD_SLOTS"));
    assert_non_null(strstr(err, "100 is not a power of two"));
    assert_non_null(strstr(err, "1 is out of range; give 1024 to 16777216"));
    assert_non_null(strstr(err, "TOEHOLD_RX_SIZE=many is not a number"));
    assert_non_null(strstr(err, "TOEHOLD_REQUIRE=yes is neither 0 nor 1"));
    assert_int_equal(in_child(wrong_and_required, err, sizeof(err)), 0);
    assert_non_null(strstr(err, "TOEHOLD_HOLD_MIN=-1 is not a number"));
    assert_null(strstr(err, "kernel's TCP"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(death_resets_and_restart_serves),
        TOE_TEST(death_is_seen_in_a_waiting_epoll),
        TOE_TEST(bytes_lost_with_the_toe_are_no_end_of_stream),
        TOE_TEST(breaches_of_the_contract),
        TOE_TEST(child_of_fork_serves_the_listener),
        TOE_TEST(a_child_that_closes_ends_nothing),
        TOE_TEST(a_child_serves_the_parents_connection),
        TOE_TEST(what_nobody_took_before_fork_waits),
        TOE_TEST(exit_closes_in_order),
        TOE_TEST(no_daemon),
        TOE_TEST(settings_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
