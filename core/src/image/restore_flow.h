/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_flow.h - a flow of an image (restore.c): it is read into a TCB, with all that it
 * borrows, then checked as a whole, and only then found by segments and timers.
 */
#ifndef TOEC_RESTORE_FLOW_H
#define TOEC_RESTORE_FLOW_H

#include "save.h"

/* Each returns 0 or a sentence. The first record of a flow; */
const char *toec_restore_flow(struct toec_restoring *r);
/* ... one of those that follow it; */
const char *toec_restore_part(struct toec_restoring *r);
/* ... there are no more of them, if there is a flow: it is checked and takes its place. */
const char *toec_restore_flow_end(struct toec_restoring *r);

#endif
