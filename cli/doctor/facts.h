/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what the checks of `toehold doctor` share. */
#ifndef TOE_CLI_DOCTOR_FACTS_H
#define TOE_CLI_DOCTOR_FACTS_H

#include "report.h"
#include "toe.h"

struct facts {
    struct report *report;
    const char *interface; /* --interface; NULL: all */
    const char *socket_path;
    struct toe toe; /* the TOE at socket_path */
};

#endif
