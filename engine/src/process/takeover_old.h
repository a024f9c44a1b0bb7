/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_old.h - the toed that hands over (docs/UPGRADE.md). */
#ifndef ENGINE_TAKEOVER_OLD_H
#define ENGINE_TAKEOVER_OLD_H

#include "control.h"

/* Handles a client's request to take over, from start to end; no other client is served in that
 * time. Returns 1 when it has taken over: this process must then end without cleaning up. Returns 0
 * when it has not. */
int takeover_give(struct control *c, struct client *cl);

#endif
