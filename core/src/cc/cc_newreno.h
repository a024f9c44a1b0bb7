/* SPDX-License-Identifier: Apache-2.0 */
/* cc_newreno.h - NewReno's window (RFC 5681, RFC 6582), bytes counted as RFC 3465 has it. */
#ifndef TOEC_CC_NEWRENO_H
#define TOEC_CC_NEWRENO_H

#include "../tcp/tcb.h"

extern const struct toec_cc_ops toec_cc_newreno;

#endif
