/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_calls.h - the table of system calls that toed may make. */
#ifndef ENGINE_SANDBOX_CALLS_H
#define ENGINE_SANDBOX_CALLS_H

#include <stdint.h>

/* What must hold of the arguments. */
enum sandbox_check {
    SANDBOX_ANY,     /* nothing */
    SANDBOX_NO_EXEC, /* argument 2 has not PROT_EXEC */
    SANDBOX_THREAD,  /* argument 0 has CLONE_THREAD: no process */
    SANDBOX_SELF,    /* argument 0 is the pid of toed */
    SANDBOX_SELF_0,  /* ... or 0, which means the same */
    SANDBOX_FAMILY,  /* argument 0 is one of sandbox_families */
    SANDBOX_REQUEST, /* argument 1 is one of sandbox_requests */
    SANDBOX_CONTROL, /* argument 0 is one of sandbox_controls */
};

struct sandbox_call {
    uint32_t nr;
    uint8_t check; /* enum sandbox_check */
    uint8_t needs; /* SANDBOX_* of sandbox_filter.h that must all be set; 0: always allowed */
};

/* A value of an argument. */
struct sandbox_value {
    uint32_t value;
    uint8_t needs;
};

extern const struct sandbox_call sandbox_calls[];
extern const unsigned sandbox_call_count;
extern const struct sandbox_value sandbox_families[], sandbox_requests[], sandbox_controls[];
extern const unsigned sandbox_family_count, sandbox_request_count, sandbox_control_count;

/* The last system call that the table's author knew: later ones do not exist for toed. */
extern const uint32_t sandbox_last_call;

#endif
