/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HOW IP PORT ROUNDS [FD TIMES]: echoes with a peer while a signal handler interrupts the main
 * program at any point. HOW selects what the handler does: fork, echo over its own connection, or
 * execute this program again, which continues on the connection. Prints the count. With a second
 * thread, which does nothing, when HOW ends with "+".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE 200

static char **args;
static int main_fd, other_fd, times;

static void fail(const char *what)
{
    perror(what);
    abort();
}

static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(args[3]))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, args[2], &a.sin_addr);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        fail("connect");
    return fd;
}

static void put(int fd, const char *b, size_t n)
{
    while (n) {
        ssize_t k = send(fd, b, n, 0);

        if (k < 0 && errno != EINTR)
            fail("send");
        b += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
}

static void wait_for(int fd, int by_select)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    if (by_select)
        (void)select(fd + 1, &set, NULL, NULL, NULL);
    else
        (void)poll(&p, 1, -1);
}

static void get(int fd, char *b, size_t n, int how)
{
    while (n) {
        ssize_t k;

        if (how % 3)
            wait_for(fd, how % 3 == 1);
        k = recv(fd, b, n, how % 3 ? MSG_DONTWAIT : 0);
        if (!k || (k < 0 && errno != EINTR && errno != EAGAIN))
            fail("recv");
        b += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
}

static void echo(int fd, int round)
{
    char sent[PIECE], got[PIECE];

    memset(sent, 'a' + round % 26, sizeof sent);
    put(fd, sent, sizeof sent);
    get(fd, got, sizeof got, round);
    if (memcmp(sent, got, sizeof got) != 0)
        fail("another echo");
}

static void start_timer(int on)
{
    /* a period that is no multiple of a round's duration */
    struct itimerval t = {{0, 0}, {0, on ? 700 + times % 97 : 0}};

    setitimer(ITIMER_REAL, &t, NULL);
}

static void again(void)
{
    char fd[16], n[16];

    snprintf(fd, sizeof fd, "%d", main_fd);
    snprintf(n, sizeof n, "%d", times);
    execl("/proc/self/exe", args[0], args[1], args[2], args[3], args[4], fd, n, NULL);
    fail("execl");
}

static void on_alarm(int sig)
{
    int saved = errno, pid, status;

    (void)sig;
    times++;
    if (args[1][0] == 'e') {
        again();
    } else if (args[1][0] == 'f') {
        pid = fork();
        if (!pid)
            _exit(0);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    } else {
        echo(other_fd, times);
    }
    start_timer(1);
    errno = saved;
}

/* The echo of another program's data arrives before that of ours: a line that is not our echo. */
static void find_place(void)
{
    char mark[16], seen[16] = "";

    snprintf(mark, sizeof mark, "<%07d>\n", times);
    put(main_fd, mark, 10);
    while (memcmp(seen, mark, 10) != 0) {
        memmove(seen, seen + 1, 9);
        get(main_fd, seen + 9, 1, 0);
    }
}

static void *sleep_on(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* It blocks the signal. */
static void start_thread(const sigset_t *alarm)
{
    pthread_t t;

    sigprocmask(SIG_BLOCK, alarm, NULL);
    if (pthread_create(&t, NULL, sleep_on, NULL) != 0)
        fail("pthread_create");
}

int main(int argc, char **argv)
{
    struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    int rounds = atoi(argv[4]);
    sigset_t alarm;

    args = argv;
    main_fd = argc > 5 ? atoi(argv[5]) : dial();
    times = argc > 6 ? atoi(argv[6]) : 0;
    if (argv[1][0] == 'u')
        other_fd = dial();
    find_place();
    sigaction(SIGALRM, &sa, NULL);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (argv[1][strlen(argv[1]) - 1] == '+')
        start_thread(&alarm);
    sigprocmask(SIG_UNBLOCK, &alarm, NULL); /* it was delivered to the program that executed us */
    start_timer(1);
    for (int i = 0; times < rounds; i++)
        echo(main_fd, i);
    start_timer(0);
    echo(main_fd, 1);
    printf("%d times\n", times);
    return 0;
}
