/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - one capture: from the TOE's memory through the filter to a file or the terminal. */
#ifndef TOE_CLI_CAPTURE_SESSION_H
#define TOE_CLI_CAPTURE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "filter.h"

enum direction { BOTH, ONLY_IN, ONLY_OUT };

struct session_options {
    const char *socket; /* of the TOE */
    const char *file;   /* pcapng; "-": standard output; NULL: lines of text */
    const char *filter_text;
    const struct packet_filter *filter;
    enum direction direction;
    bool only_drops;
    bool json;        /* without file: JSON instead of text */
    bool quiet;       /* no messages except errors */
    uint32_t snaplen; /* bytes of a frame in the file */
    uint32_t mib;     /* of each engine's ring */
    uint64_t count;   /* frames after which it ends; 0: no limit */
    uint64_t seconds; /* after which it ends; 0: no limit */
};

/* Captures until a limit, SIGINT, SIGTERM or SIGHUP, or the end of the TOE or of the file's reader.
 * Returns an exit code, after a message if it is not 0. */
int session_run(const struct session_options *o);

#endif
