/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - the sources "software" and "hardware", by probes. */
#ifndef TOE_CLI_PROBE_H
#define TOE_CLI_PROBE_H

#include <stdbool.h>

#include "measure.h"

/* Measures until it is done. Returns false with the reason by rtt_fail(). */
bool probe_run(struct rtt *r);

#endif
