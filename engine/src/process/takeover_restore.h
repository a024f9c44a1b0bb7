/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_restore.h - restores the state of an engine from another toed. */
#ifndef ENGINE_TAKEOVER_RESTORE_H
#define ENGINE_TAKEOVER_RESTORE_H

#include "base/takeover_image.h"
#include "round/engine.h"

/* What was restored, for the log. */
struct takeover_tally {
    uint32_t qps, flows, listeners;
};

/* Restores an engine that has no queue pairs and no thread yet. Returns NULL, or an error
 * message. */
const char *takeover_restore_engine(struct engine *e, struct takeover *t,
                                    struct takeover_tally *tally);

#endif
