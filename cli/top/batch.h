/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - `toehold top` without a terminal: text or JSON. */
#ifndef TOE_CLI_TOP_BATCH_H
#define TOE_CLI_TOP_BATCH_H

#include <stdint.h>

#include "model.h"

struct top_options {
    const char *path; /* of the TOE's socket */
    uint64_t every_s, batch;
    bool json, reverse;
    enum top_sort sort;
};

/* Prints o->batch looks with their rates, one after each interval. Returns an exit code. */
int top_batch(const struct top_options *o);

#endif
