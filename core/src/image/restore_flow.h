/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_flow.h - restores a flow (restore.c): reads it into a TCB with all that it borrows,
 * checks it as a whole, and only then makes it visible to segments and timers.
 */
#ifndef TOEC_RESTORE_FLOW_H
#define TOEC_RESTORE_FLOW_H

#include "save.h"

/* Restores the first record of a flow. These functions return 0 or an error message. */
const char *toec_restore_flow(struct toec_restoring *r);
/* Restores a further record of the current flow. */
const char *toec_restore_part(struct toec_restoring *r);
/* Completes the current flow, if any: checks it and adds it to lists and timers. */
const char *toec_restore_flow_end(struct toec_restoring *r);

#endif
