/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - select(2) over descriptors of the TOE and of the kernel (select.c). */
#ifndef LIBTOE_SELECT_H
#define LIBTOE_SELECT_H

#include "libtoe.h"

/* Returns whether any of these descriptors is libtoe's. Otherwise the kernel alone serves the call.
 */
TOE_HIDDEN bool tselect_any(int n, const fd_set *r, const fd_set *w, const fd_set *e);

#endif
