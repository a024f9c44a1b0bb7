/* SPDX-License-Identifier: Apache-2.0 */
/* cc_newreno.h - NewReno's window (RFC 5681, RFC 6582), with the byte counting of RFC 3465. */
#ifndef TOEC_CC_NEWRENO_H
#define TOEC_CC_NEWRENO_H

#include "../tcp/tcb.h"

extern const struct toec_cc_ops toec_cc_newreno;

#endif
