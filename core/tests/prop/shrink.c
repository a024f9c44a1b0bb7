/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shrink.c - delta debugging (Zeller, Hildebrandt 2002) of a failing script: removes events in ever
 * smaller pieces, resets settings to their defaults and reduces numbers while the script fails in
 * the same way. Each try runs in a separate process.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prop.h"

#define LIMIT_S 30 /* of processor time; a longer run counts as endless */

struct verdict {
    int bad;
    char what[WHAT_MAX], message[MESSAGE_MAX];
};

void limit_run(void)
{
    struct itimerval limit = {{0, 0}, {LIMIT_S, 0}};

    setitimer(ITIMER_PROF, &limit, 0);
}

int try_apart(const struct script *s, char *what, char *message)
{
    struct verdict v;
    int fd[2], status;
    ssize_t got;
    pid_t child;

    memset(&v, 0, sizeof(v));
    if (pipe(fd)) {
        perror("prop: pipe");
        _exit(2);
    }
    fflush(stdout);
    child = fork();
    if (child < 0) {
        perror("prop: fork");
        _exit(2);
    }
    if (child == 0) {
        close(fd[0]);
        limit_run();
        v.bad = world_try(s, 0, v.what, v.message);
        if (write(fd[1], &v, sizeof(v)) != (ssize_t)sizeof(v))
            _exit(3);
        _exit(0);
    }
    close(fd[1]);
    got = read(fd[0], &v, sizeof(v));
    close(fd[0]);
    waitpid(child, &status, 0);
    if (got != (ssize_t)sizeof(v)) {
        v.bad = 1;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
            strcpy(v.what, "no end");
        else
            strcpy(v.what, "crash");
        snprintf(v.message, sizeof(v.message), "%s %d",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    snprintf(what, WHAT_MAX, "%s", v.what);
    snprintf(message, MESSAGE_MAX, "%s", v.message);
    return v.bad;
}

static int still(const struct script *s, const char *what)
{
    char got[WHAT_MAX], message[MESSAGE_MAX];

    return try_apart(s, got, message) && strcmp(got, what) == 0;
}

/* Removes [from, from + n) if it also fails without them. */
static int without(struct script *s, unsigned from, unsigned n, const char *what)
{
    struct script t;
    unsigned i;

    script_init(&t);
    memcpy(t.set, s->set, sizeof(t.set));
    for (i = 0; i < s->n; i++) {
        if (i < from || i >= from + n)
            script_add(&t, &s->ev[i]);
    }
    if (!still(&t, what)) {
        script_free(&t);
        return 0;
    }
    script_free(s);
    *s = t;
    return 1;
}

static int shrink_events(struct script *s, const char *what)
{
    unsigned piece = s->n / 2, before = s->n;

    for (; piece > 0; piece /= 2) {
        unsigned from = s->n > piece ? s->n - piece : 0;

        for (;;) { /* from the end: later events depend on earlier ones */
            without(s, from, piece, what);
            if (from == 0)
                break;
            from = from > piece ? from - piece : 0;
        }
    }
    return s->n < before;
}

static int shrink_settings(struct script *s, const char *what)
{
    struct script plain;
    int i, did = 0;

    script_init(&plain);
    for (i = 0; i < S_MAX; i++) {
        int64_t was = s->set[i];

        if (i == S_mode || was == plain.set[i])
            continue;
        s->set[i] = plain.set[i];
        if (still(s, what))
            did = 1;
        else
            s->set[i] = was;
    }
    return did;
}

static int shrink_numbers(struct script *s, const char *what)
{
    unsigned i, j;
    int did = 0;

    for (i = 0; i < s->n; i++) {
        for (j = 0; j < event_arity(s->ev[i].op); j++) {
            int64_t *a = &s->ev[i].a[j], was = *a;

            if (was == 0 || (s->ev[i].op == E_seg && (j < 3 || j == 7)))
                continue;
            *a = 0;
            if (still(s, what)) {
                did = 1;
                continue;
            }
            *a = was / 2;
            if (*a != was && *a != 0 && still(s, what))
                did = 1;
            else
                *a = was;
        }
    }
    return did;
}

void shrink(struct script *s, const char *what)
{
    int again = 1, rounds = 0;

    while (again && rounds++ < 4) {
        again = shrink_events(s, what);
        again |= shrink_settings(s, what);
        again |= shrink_numbers(s, what);
    }
}
