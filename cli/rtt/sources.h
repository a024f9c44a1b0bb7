/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h - `toehold rtt --sources`. */
#ifndef TOE_CLI_SOURCES_H
#define TOE_CLI_SOURCES_H

#include "measure.h"

/* Lists the sources of times of this machine and interface. Returns an exit code. */
int sources_show(const struct rtt_options *o);

#endif
