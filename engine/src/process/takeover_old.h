/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_old.h - the toed that is taken over from. */
#ifndef ENGINE_TAKEOVER_OLD_H
#define ENGINE_TAKEOVER_OLD_H

#include "control.h"

/* The client asks to take over: the whole talk, in which nobody else is served. 1: it has, and
 * this process is to end, undoing nothing; 0: it has not. */
int takeover_give(struct control *c, struct client *cl);

#endif
