/* SPDX-License-Identifier: Apache-2.0 */
/* restore_ao.h - keys of TCP-AO in an image: they come first, then who has them (save.h). */
#ifndef TOEC_RESTORE_AO_H
#define TOEC_RESTORE_AO_H

#include "save.h"

/* restore_ao.c: those of TCP-AO. */
const char *toec_restore_ao(struct toec_restoring *r);

#endif
