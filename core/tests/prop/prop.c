/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prop.c - runs scripts by the thousand.
 *
 *   prop [--mode pair|peer] [--seed N] [--runs N] [--seconds N]   scripts of N, N+1, ...
 *   prop --replay FILE [--trace]                                  one script
 *   prop --show --mode M --seed N                                 prints a script
 *
 * TOE_TEST_SEED sets the first seed. A script that fails is shrunk, printed, run once more with all
 * segments, and the exit code is 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prop.h"

#define BATCH      100
#define PROGRESS_S 300

struct options {
    int mode, trace, show;
    uint64_t seed, runs, seconds;
    const char *replay;
};

static const char *const modes[] = {"pair", "peer"};

/* Runs the batch in a separate process; returns the first seed that fails, or -1. */
static int64_t batch(uint64_t first, uint64_t n, int mode, uint64_t *events)
{
    struct note {
        uint64_t seed, events;
    } note;
    int status, fd[2];
    pid_t child;
    int64_t bad = -1;

    if (pipe(fd)) {
        perror("prop: pipe");
        exit(2);
    }
    fflush(stdout);
    child = fork();
    if (child < 0) {
        perror("prop: fork");
        exit(2);
    }
    if (child == 0) {
        char what[WHAT_MAX], message[MESSAGE_MAX];

        for (note.seed = first; note.seed < first + n; note.seed++) {
            struct script s;

            script_make(&s, note.seed, mode);
            note.events = s.n;
            /* In advance, so that the parent knows which one crashed. */
            if (write(fd[1], &note, sizeof(note)) != (ssize_t)sizeof(note))
                _exit(3);
            limit_run();
            if (world_try(&s, 0, what, message))
                _exit(1);
            script_free(&s);
        }
        _exit(0);
    }
    close(fd[1]);
    while (read(fd[0], &note, sizeof(note)) == (ssize_t)sizeof(note)) {
        bad = (int64_t)note.seed;
        *events += note.events;
    }
    close(fd[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? -1 : bad;
}

static void report(uint64_t seed, int mode)
{
    struct script s;
    char what[WHAT_MAX], message[MESSAGE_MAX];
    unsigned n;

    script_make(&s, seed, mode);
    n = s.n;
    if (!try_apart(&s, what, message)) {
        printf("seed %llu failed, but not by itself\n", (unsigned long long)seed);
        return;
    }
    printf("FAILED: mode %s seed %llu: %s: %s\n", modes[mode], (unsigned long long)seed, what,
           message);
    shrink(&s, what);
    try_apart(&s, what, message);
    printf("shrunk from %u events to %u: %s: %s\n", n, s.n, what, message);
    printf("---- script: prop --replay FILE --trace\n");
    script_print(&s, stdout);
    printf("---- as it goes\n");
    fflush(stdout);
    if (strcmp(what, "crash") != 0 && strcmp(what, "no end") != 0)
        world_try(&s, 1, what, message);
    printf("---- %s: %s\n", what, message);
    script_free(&s);
}

static void say(const struct options *o, const char *end, uint64_t runs, uint64_t events)
{
    printf("mode %s, seeds %llu to %llu: %llu runs, %llu events%s\n", modes[o->mode],
           (unsigned long long)o->seed, (unsigned long long)(o->seed + runs - 1),
           (unsigned long long)runs, (unsigned long long)events, end);
    fflush(stdout);
}

static int run_many(const struct options *o)
{
    time_t begin = time(0), end = begin + (time_t)o->seconds, told = begin;
    uint64_t done = 0, events = 0;

    printf("mode %s, TOE_TEST_SEED=%llu\n", modes[o->mode], (unsigned long long)o->seed);
    while (o->seconds ? time(0) < end : done < o->runs) {
        uint64_t n = !o->seconds && o->runs - done < BATCH ? o->runs - done : BATCH;
        int64_t bad = batch(o->seed + done, n, o->mode, &events);

        if (bad >= 0) {
            report((uint64_t)bad, o->mode);
            return 1;
        }
        done += n;
        if (time(0) - told >= PROGRESS_S) {
            told = time(0);
            say(o, "", done, events);
        }
    }
    say(o, ", every invariant held", done, events);
    return 0;
}

static int replay(const struct options *o)
{
    struct script s;
    char what[WHAT_MAX], message[MESSAGE_MAX];
    int bad;

    if (script_read(&s, o->replay))
        return 2;
    bad = o->trace ? world_try(&s, 1, what, message) : try_apart(&s, what, message);
    if (bad)
        printf("FAILED: %s: %s\n", what, message);
    else
        printf("every invariant held\n");
    script_free(&s);
    return bad;
}

static int usage(void)
{
    fprintf(stderr, "usage: prop [--mode pair|peer] [--seed N] [--runs N] [--seconds N] [--show]\n"
                    "       prop --replay FILE [--trace]\n");
    return 2;
}

static int take(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--mode") == 0) {
        if (strcmp(value, "pair") != 0 && strcmp(value, "peer") != 0)
            return -1;
        o->mode = strcmp(value, "peer") == 0;
    } else if (strcmp(name, "--seed") == 0) {
        o->seed = strtoull(value, 0, 0);
    } else if (strcmp(name, "--runs") == 0) {
        o->runs = strtoull(value, 0, 0);
    } else if (strcmp(name, "--seconds") == 0) {
        o->seconds = strtoull(value, 0, 0);
    } else if (strcmp(name, "--replay") == 0) {
        o->replay = value;
    } else {
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct options o;
    const char *seed = getenv("TOE_TEST_SEED");
    int i;

    memset(&o, 0, sizeof(o));
    o.seed = seed ? strtoull(seed, 0, 0) : 1;
    o.runs = 1000;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0)
            o.trace = 1;
        else if (strcmp(argv[i], "--show") == 0)
            o.show = 1;
        else if (i + 1 == argc || take(&o, argv[i], argv[i + 1]))
            return usage();
        else
            i++;
    }
    if (o.replay)
        return replay(&o);
    if (o.show) {
        struct script s;

        script_make(&s, o.seed, o.mode);
        script_print(&s, stdout);
        script_free(&s);
        return 0;
    }
    return run_many(&o);
}
