/* SPDX-License-Identifier: Apache-2.0 */
/* interface_watch.h - handles changes that other programs make to the interface in use. */
#ifndef ENGINE_TEND_H
#define ENGINE_TEND_H

#include "control.h"

/* The longest time between two calls, in milliseconds. */
#define INTERFACE_WATCH_MS 1000

/* Main thread. news: c->link is readable. Returns non-zero when toed must end; the reason is
 * logged. */
int interface_watch(struct control *c, int news);

#endif
