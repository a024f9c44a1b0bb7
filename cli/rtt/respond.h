/* SPDX-License-Identifier: Apache-2.0 */
/* respond.h - `toehold rtt --respond`. */
#ifndef TOE_CLI_RESPOND_H
#define TOE_CLI_RESPOND_H

#include "measure.h"

/* Answers UDP probes until it is interrupted. Returns an exit code. */
int respond_run(const struct rtt_options *o);

#endif
