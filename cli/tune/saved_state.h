/* SPDX-License-Identifier: Apache-2.0 */
/* saved_state.h - how everything was set before, and what --apply has done since. */
#ifndef TOE_CLI_TUNE_SAVED_STATE_H
#define TOE_CLI_TUNE_SAVED_STATE_H

#include <limits.h>

#include "settings.h"

struct tune_saved {
    char path[PATH_MAX];
    int lock;            /* the open file, -1: none */
    char setting[96];    /* applied by --apply; "": trying */
    char file[PATH_MAX]; /* settings that --apply wrote; "": none */
    char text[512];      /* its content */
    struct tune_state before;
};

#endif
