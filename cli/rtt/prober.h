/* SPDX-License-Identifier: Apache-2.0 */
/* prober.h - sends probes and receives their answers; times them by the kernel's stamps, or leaves
 * that to another source. */
#ifndef TOE_CLI_PROBER_H
#define TOE_CLI_PROBER_H

#include <stdbool.h>

#include "measure.h"

struct prober;

/* Opens the sockets. Returns NULL with the reason by rtt_fail(). */
struct prober *prober_start(struct rtt *r, bool hardware);
/* Sends probes until --count or the end of the time. Returns false with the reason by rtt_fail().
 */
bool prober_run(struct prober *p);
/* Waits for probes in flight, and counts the lost ones. */
void prober_finish(struct prober *p);
void prober_free(struct prober *p);

#endif
