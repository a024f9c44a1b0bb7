/* SPDX-License-Identifier: Apache-2.0 */
/* tx_share.h - what a flow uses of its send buffer. */
#ifndef ENGINE_TX_SHARE_H
#define ENGINE_TX_SHARE_H

#include "qp.h"

/* As the flow begins. */
void tx_share_begin(struct slot *s);
/* More, when that is due: the number of bytes. Nothing that is not announced may stand in the
 * buffer then. */
uint32_t tx_share_grow(struct slot *s);

#endif
