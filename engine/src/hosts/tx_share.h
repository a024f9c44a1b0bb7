/* SPDX-License-Identifier: Apache-2.0 */
/* tx_share.h - the share of its send buffer that a flow uses. */
#ifndef ENGINE_TX_SHARE_H
#define ENGINE_TX_SHARE_H

#include "qp.h"

/* Sets the initial share of a new flow. */
void tx_share_begin(struct slot *s);
/* Enlarges the share when that is due. Returns the size in bytes. The buffer must then contain no
 * unannounced bytes. */
uint32_t tx_share_grow(struct slot *s);

#endif
