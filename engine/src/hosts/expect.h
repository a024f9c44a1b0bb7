/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h - prefetches into the cache what a batch, or a flow that sends, will access. */
#ifndef ENGINE_EXPECT_H
#define ENGINE_EXPECT_H

#include "qp.h"

/* Prefetches for the next n frames, at most TOEC_EXPECT_MAX. */
void expect_frames(struct engine *e, const struct netio_frame *f, unsigned n);
/* toec_config.expect_send */
void expect_send(void *user, void *owner, toec_u32 off);

#endif
