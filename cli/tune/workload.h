/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - runs the workload once with a setting, and measures it. */
#ifndef TOE_CLI_TUNE_WORKLOAD_H
#define TOE_CLI_TUNE_WORKLOAD_H

#include <limits.h>

#include "child.h"
#include "decide.h"
#include "settings.h"

struct tune_workload {
    char *const *command; /* NULL: watch what runs, or load the URL */
    const char *url;      /* NULL: none */
    const char *connections;
    double seconds; /* of a sample, when watching or loading */
    const char *interface;
    const char *socket;     /* of toed */
    char toehold[PATH_MAX]; /* this program */
    char bench[PATH_MAX];   /* the load generator */
};

struct tune_result {
    struct tune_sample sample;
    const char *unit; /* of the throughput: "requests/s", "bytes/s" or "runs/s" */
    double seconds;   /* all in all */
    bool failed;
    char why[320];
};

/* Runs it. TUNE_ENDED: measured, or failed with the reason; TUNE_SIGNALLED; TUNE_TIMED_OUT after
 * `limit` seconds. */
enum tune_end tune_run_once(const struct tune_workload *w, const struct tune_setting *s,
                            double limit, struct tune_result *r);

/* Returns whether the workload can run in a place, by a dry run of `toehold run`; else the reason.
 */
bool tune_can_run(const struct tune_workload *w, enum tune_place p, char *why, size_t why_size);

#endif
