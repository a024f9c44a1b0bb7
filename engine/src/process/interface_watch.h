/* SPDX-License-Identifier: Apache-2.0 */
/* interface_watch.h - what others do to the interface while toed serves by it, and what toed does
 * about it. */
#ifndef ENGINE_TEND_H
#define ENGINE_TEND_H

#include "control.h"

/* How often it wants to be called, at least. */
#define INTERFACE_WATCH_MS 1000

/* Main thread; news: c->link is readable. Not 0 when toed cannot go on, which it has said. */
int interface_watch(struct control *c, int news);

#endif
