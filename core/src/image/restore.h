/* SPDX-License-Identifier: Apache-2.0 */
/* restore.h - a stack goes on where another one was saved (save.h). */
#ifndef TOEC_RESTORE_H
#define TOEC_RESTORE_H

#include "save.h"

/* Listeners up to this index are in use, or free. */
void toec_restore_reach(struct toec_stack *s, toec_u32 index);
/* The deadline that an expiry at `tick` came from; `shift` as the wheel's: 0, or TOEC_PACE_SHIFT.
 */
toec_time toec_deadline_of(toec_u32 tick, toec_time now);

#endif
