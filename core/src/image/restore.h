/* SPDX-License-Identifier: Apache-2.0 */
/* restore.h - restores a saved stack (save.h). */
#ifndef TOEC_RESTORE_H
#define TOEC_RESTORE_H

#include "save.h"

/* Adds free listeners to the pool up to this index. */
void toec_restore_reach(struct toec_stack *s, toec_u32 index);
/* Returns the deadline of an expiry at `tick`, 0 if it has passed. For the pacing wheel, now is
 * shifted left by TOEC_PACE_SHIFT. */
toec_time toec_deadline_of(toec_u32 tick, toec_time now);

#endif
