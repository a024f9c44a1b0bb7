/* SPDX-License-Identifier: Apache-2.0 */
/* fcntl_flags.h - the flags of a placeholder (fcntl.c; <fcntl.h> is the system's). Lock held. */
#ifndef LIBTOE_FCNTL_FLAGS_H
#define LIBTOE_FCNTL_FLAGS_H

#include "tsock.h"

/* Records a listener's O_NONBLOCK for a process that inherits it. The kernel's half of a listener
 * that both serve is always O_NONBLOCK, because accept() asks it without waiting. So F_SETSIG,
 * which has no other use there, records the program's mode: SIGIO means blocking. */
TOE_HIDDEN void tsock_note_flags(const struct tsock *s, int fd);

#endif
