/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - the end and the live figures of a running measurement. */
#ifndef TOE_CLI_LIVE_H
#define TOE_CLI_LIVE_H

#include <stdbool.h>

#include "measure.h"

/* Returns whether the measurement is over: interrupted, its time is over, or r->hook has failed.
 * Also calls r->hook and prints live figures when they are due. */
bool rtt_over(struct rtt *r);

#endif
