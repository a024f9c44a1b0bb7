/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_restore.h - makes an engine what it was in another toed. */
#ifndef ENGINE_TAKEOVER_RESTORE_H
#define ENGINE_TAKEOVER_RESTORE_H

#include "base/takeover_image.h"
#include "round/engine.h"

/* What was found, for people. */
struct takeover_tally {
    uint32_t qps, flows, listeners;
};

/* Into an engine that has no queue pairs yet, and no thread. 0, or a sentence. */
const char *takeover_restore_engine(struct engine *e, struct takeover *t,
                                    struct takeover_tally *tally);

#endif
