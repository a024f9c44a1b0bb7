/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - runs a command to its end, or until a signal asks tune to end. */
#ifndef TOE_CLI_TUNE_CHILD_H
#define TOE_CLI_TUNE_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#define TUNE_OUTPUT (1 << 20) /* bytes of standard output that are kept */

enum tune_end { TUNE_ENDED, TUNE_SIGNALLED, TUNE_TIMED_OUT, TUNE_NOT_STARTED };

struct tune_child {
    char *out;       /* standard output, ends with a null byte; the caller's to free */
    char error[256]; /* the last line of standard error, or why it could not be started */
    int code;        /* exit code; of a signal 128 and its number */
    double seconds;
};

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT: they end tune_child_run() and tune_pause() alone, so
 * that no change is interrupted. Returns false with errno. */
bool tune_signals_hold(void);

/* Returns the number of the signal that came, 0: none. */
int tune_signal(void);

/* Returns the seconds of the monotonic clock. */
double tune_now(void);

/* Waits. Returns TUNE_SIGNALLED or TUNE_TIMED_OUT. */
enum tune_end tune_pause(double seconds);

/* Runs a command in a process group of its own, with up to two more variables. A signal or `limit`
 * ends the group. */
enum tune_end tune_child_run(char *const argv[], const char *const variables[2], double limit,
                             struct tune_child *c);

#endif
