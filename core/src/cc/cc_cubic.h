/* SPDX-License-Identifier: Apache-2.0 */
/* cc_cubic.h - CUBIC congestion control (RFC 9438) in integers. */
#ifndef TOEC_CC_CUBIC_H
#define TOEC_CC_CUBIC_H

#include "../tcp/tcb.h"

extern const struct toec_cc_ops toec_cc_cubic;

#endif
