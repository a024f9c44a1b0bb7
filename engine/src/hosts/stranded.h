/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stranded.h - listeners whose process can never accept: it has no queue pair, or the TOE refuses
 * its LISTEN, and the other processes that share the listener only keep it open for it.
 *
 * Flows of such a listener would wait for ever (waiting.h). libtoe reports the listener on the
 * control socket (TOEDEV_HELLO_STRANDED), and its flows are reset until a process joins or accepts.
 */
#ifndef ENGINE_STRANDED_H
#define ENGINE_STRANDED_H

#include "listen.h"

/* The report of a process. `found` counts the listeners that it applies to. */
struct stranded_report {
    struct owner owner; /* of the process */
    uint16_t port;
    uint32_t found;
};

/* In the engine's thread: resets the flows that wait at the listeners of the port; arg is a struct
 * stranded_report. Has no effect on a listener of which a member has accepted or may do so
 * now, or belongs to another process than an ancestor of the reporter. */
void stranded_note(struct engine *e, void *arg);

/* Returns non-zero when the flow, just established, is to be reset instead of waiting. */
static inline int stranded_refuses(const struct slot *s)
{
    return s->member && s->member->group->stranded;
}

#endif
