/* SPDX-License-Identifier: Apache-2.0 */
/* fcntl_flags.h - the flags of a placeholder (fcntl.c; <fcntl.h> is the system's). Lock held. */
#ifndef LIBTOE_FCNTL_FLAGS_H
#define LIBTOE_FCNTL_FLAGS_H

#include "tsock.h"

/* Records a listener's O_NONBLOCK where a process that inherits it finds it. accept() asks the
 * kernel's half of a listener that both serve without waiting. So F_SETSIG, of no use else there,
 * keeps what the program wants: SIGIO to wait. */
TOE_HIDDEN void tsock_note_flags(const struct tsock *s, int fd);

#endif
