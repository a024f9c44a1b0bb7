/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - see child.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

#define GRACE   2.0  /* seconds from SIGTERM to SIGKILL */
#define DRAINED 1024 /* reads after the end: more than pipes hold */

static int signals = -1, came;
static sigset_t mask_before;

double tune_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool tune_signals_hold(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    signal(SIGPIPE, SIG_IGN); /* a closed standard error must not end it half way */
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals >= 0 && sigprocmask(SIG_BLOCK, &set, &mask_before) == 0;
}

int tune_signal(void)
{
    struct signalfd_siginfo s;

    if (!came && read(signals, &s, sizeof s) == sizeof s)
        came = (int)s.ssi_signo;
    return came;
}

/* Milliseconds until a time, rounded up, for poll(). */
static int until(double when)
{
    double ms = ceil((when - tune_now()) * 1000);

    return ms < 0 ? 0 : ms > 3600000 ? 3600000 : (int)ms;
}

enum tune_end tune_pause(double seconds)
{
    double end = tune_now() + seconds;

    while (!tune_signal()) {
        struct pollfd p = {.fd = signals, .events = POLLIN};

        if (tune_now() >= end)
            return TUNE_TIMED_OUT;
        poll(&p, 1, until(end));
    }
    return TUNE_SIGNALLED;
}

/* ---- the command ---- */

struct run {
    pid_t pid;
    int handle, out, err; /* a pidfd, and the pipes' ends to read */
    size_t size, error_size;
};

/* In the child: becomes the command. A failure is the last line of standard error. */
static void become(char *const argv[], const char *const variables[2], pid_t parent, int out,
                   int err)
{
    int null = open("/dev/null", O_RDONLY), i;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not outlive a killed tune */
    if (getppid() != parent)
        _exit(1);
    dup2(null, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (i = 0; i < 2 && variables[i]; i++)
        putenv((char *)variables[i]);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    execvp(argv[0], argv);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static bool start(char *const argv[], const char *const variables[2], struct run *r)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t self = getpid();

    r->pid = r->handle = -1;
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        r->pid = fork();
    if (r->pid == 0)
        become(argv, variables, self, out[1], err[1]);
    if (r->pid > 0) {
        setpgid(r->pid, r->pid); /* whichever of both is first */
        r->handle = pidfd_open(r->pid, 0);
    }
    close(out[1]);
    close(err[1]);
    r->out = out[0];
    r->err = err[0];
    if (r->handle >= 0) {
        fcntl(r->out, F_SETFL, O_NONBLOCK);
        fcntl(r->err, F_SETFL, O_NONBLOCK);
        return true;
    }
    if (r->pid > 0) {
        kill(-r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
    }
    close(r->out);
    close(r->err);
    return false;
}

/* Keeps the beginning of standard output. Returns false at its end. */
static bool take_output(struct run *r, struct tune_child *c)
{
    char rest[4096];
    ssize_t n;

    if (r->size < TUNE_OUTPUT)
        n = read(r->out, c->out + r->size, TUNE_OUTPUT - r->size);
    else
        n = read(r->out, rest, sizeof rest);
    if (n > 0 && r->size < TUNE_OUTPUT)
        r->size += (size_t)n;
    c->out[r->size] = '\0';
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Keeps the last line of standard error. Returns false at its end. */
static bool take_error(struct run *r, struct tune_child *c)
{
    char text[4096];
    ssize_t n = read(r->err, text, sizeof text), i;

    for (i = 0; i < n; i++) {
        if (text[i] == '\n') {
            r->error_size = 0;
            continue;
        }
        if (r->error_size < sizeof c->error - 1) {
            c->error[r->error_size++] = text[i];
            c->error[r->error_size] = '\0';
        }
    }
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Reads what is there when the command has ended; a process that it left may hold the pipes, and
 * write on. */
static void drain(struct run *r, struct tune_child *c)
{
    struct pollfd p[2] = {{.fd = r->out, .events = POLLIN}, {.fd = r->err, .events = POLLIN}};
    int i;

    for (i = 0; i < DRAINED && poll(p, 2, 0) > 0; i++) {
        if (p[0].revents && !take_output(r, c))
            p[0].fd = -1;
        if (p[1].revents && !take_error(r, c))
            p[1].fd = -1;
    }
}

/* Waits for the end of the command, a signal or the limit. */
static enum tune_end wait_for(struct run *r, double end, struct tune_child *c)
{
    struct pollfd p[4] = {{.fd = r->handle, .events = POLLIN},
                          {.fd = signals, .events = POLLIN},
                          {.fd = r->out, .events = POLLIN},
                          {.fd = r->err, .events = POLLIN}};

    for (;;) {
        poll(p, 4, until(end));
        if (p[2].revents && !take_output(r, c))
            p[2].fd = -1;
        if (p[3].revents && !take_error(r, c))
            p[3].fd = -1;
        if (p[0].revents)
            return TUNE_ENDED;
        if (tune_signal())
            return TUNE_SIGNALLED;
        if (tune_now() >= end)
            return TUNE_TIMED_OUT;
    }
}

/* Ends the command's process group. */
static void stop(struct run *r)
{
    struct pollfd p = {.fd = r->handle, .events = POLLIN};
    double end = tune_now() + GRACE;

    kill(-r->pid, SIGTERM);
    while (tune_now() < end && poll(&p, 1, until(end)) <= 0)
        ;
    kill(-r->pid, SIGKILL);
}

enum tune_end tune_child_run(char *const argv[], const char *const variables[2], double limit,
                             struct tune_child *c)
{
    struct run r = {0};
    double begin = tune_now();
    enum tune_end end;
    int status;

    memset(c, 0, sizeof *c);
    c->out = calloc(1, TUNE_OUTPUT + 1);
    if (!c->out || !start(argv, variables, &r)) {
        snprintf(c->error, sizeof c->error, "%s", strerror(errno));
        return TUNE_NOT_STARTED;
    }
    end = wait_for(&r, begin + limit, c);
    c->seconds = tune_now() - begin;
    if (end != TUNE_ENDED)
        stop(&r);
    waitpid(r.pid, &status, 0);
    drain(&r, c);
    close(r.handle);
    close(r.out);
    close(r.err);
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return end;
}
