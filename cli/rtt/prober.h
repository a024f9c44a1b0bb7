/* SPDX-License-Identifier: Apache-2.0 */
/* prober.h - sends probes and takes their answers: for the kernel's stamps, or beside a source that
 * times them itself. */
#ifndef TOE_CLI_PROBER_H
#define TOE_CLI_PROBER_H

#include <stdbool.h>

#include "measure.h"

struct prober;

/* NULL: rtt_fail() said why. */
struct prober *prober_start(struct rtt *r, bool hardware);
/* Until --count is sent or the time is over. */
bool prober_run(struct prober *p);
/* Waits for what is out, and counts what is lost. */
void prober_finish(struct prober *p);
void prober_free(struct prober *p);

#endif
