/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_dctcp.h - Data Center TCP (RFC 8257): the window is cut by the share of bytes that were
 * marked rather than by half.
 */
#ifndef TOEC_CC_DCTCP_H
#define TOEC_CC_DCTCP_H

#include "../tcp/tcb.h"

extern const struct toec_cc_ops toec_cc_dctcp;

#endif
