/* SPDX-License-Identifier: Apache-2.0 */
/* restore_ao.h - restores TCP-AO keys: in an image, keys precede the record of their owner
 * (save.h). */
#ifndef TOEC_RESTORE_AO_H
#define TOEC_RESTORE_AO_H

#include "save.h"

/* Restores a record of TCP-AO. Returns 0 or an error message. */
const char *toec_restore_ao(struct toec_restoring *r);

#endif
