/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.h - listeners that came from another program and have not been used yet (inherited.c;
 * inherit.h finds them). Also tinherit_use() of dispatch.h. */
#ifndef LIBTOE_INHERITED_H
#define LIBTOE_INHERITED_H

#include "libtoe.h"

/* Called when the program reads its name: it is about to serve it, maybe in children. From here on
 * the listener keeps the port open, and connections wait there (WEAK). Takes the lock. */
TOE_HIDDEN void tinherit_look(int fd);

#endif
