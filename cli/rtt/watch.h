/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the source "software" for traffic as it passes an interface. */
#ifndef TOE_CLI_WATCH_H
#define TOE_CLI_WATCH_H

#include <stdbool.h>

#include "measure.h"

/* Measures until it is done. Returns false with the reason by rtt_fail(). */
bool watch_run(struct rtt *r);

#endif
