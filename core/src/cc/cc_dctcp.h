/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_dctcp.h - Data Center TCP (RFC 8257): reduces the window in proportion to the share of marked
 * bytes rather than by half.
 */
#ifndef TOEC_CC_DCTCP_H
#define TOEC_CC_DCTCP_H

#include "../tcp/tcb.h"

extern const struct toec_cc_ops toec_cc_dctcp;

#endif
