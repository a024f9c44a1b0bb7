/* SPDX-License-Identifier: Apache-2.0 */
/* cc_bbr.h - BBR version 3 (draft-ietf-ccwg-bbr-06) as a congestion-control algorithm. */
#ifndef TOEC_CC_BBR_H
#define TOEC_CC_BBR_H

#include "tcp_cc.h"

extern const struct toec_cc_ops toec_cc_bbr3;

/* Handles too much loss in ProbeBW_UP. */
void toec_bbr_probe_failed(struct toec_tcb *t, toec_time now);

#endif
