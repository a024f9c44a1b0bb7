/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.h - listeners that came from another program and have not been used yet (inherited.c;
 * inherit.h finds them). Also tinherit_use() of dispatch.h. */
#ifndef LIBTOE_INHERITED_H
#define LIBTOE_INHERITED_H

#include "libtoe.h"

/* The program asks for its name: it means to serve it, maybe in children. From here on it keeps the
 * port open, and peers that connect wait there (WEAK). Takes the lock. */
TOE_HIDDEN void tinherit_look(int fd);
/* The other way: a listener is about to be passed to another process, which is likely to serve it.
 * Takes the lock. */
TOE_HIDDEN void tlisten_pass(int fd);

#endif
