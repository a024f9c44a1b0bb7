/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stranded.h - reports to the TOE that this process can never accept from its listeners, so that
 * connections which wait for it are reset (stranded.c; toe/attach.h). Lock held.
 */
#ifndef LIBTOE_STRANDED_H
#define LIBTOE_STRANDED_H

#include "libtoe.h"

struct tsock;

/* Called when attaching has failed: reports the listeners that this process uses, after a second
 * and then once a second. */
TOE_HIDDEN void tstranded_unattached(void);
/* Called when attaching has succeeded. */
TOE_HIDDEN void tstranded_attached(void);
/* Handles an inherited listener for which the TOE has refused LISTEN. */
TOE_HIDDEN void tstranded_refused(const struct tsock *s);

#endif
