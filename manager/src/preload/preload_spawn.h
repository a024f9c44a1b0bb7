/* SPDX-License-Identifier: Apache-2.0 */
/* preload_spawn.h - descriptors in the control data of Unix sockets (preload_spawn.c). */
#ifndef LIBTOE_PRELOAD_SPAWN_H
#define LIBTOE_PRELOAD_SPAWN_H

#include "libtoe.h"

/* libc's sendmsg() of a kernel socket, with connections of the TOE made fit to pass. */
TOE_HIDDEN ssize_t preload_send_rights(int fd, const struct msghdr *msg, int flags);
/* Would it have something to do with this message? */
TOE_HIDDEN bool preload_has_rights(const struct msghdr *msg);
/* What such a message has brought: listeners among them are the TOE's too. */
TOE_HIDDEN void preload_take_rights(const struct msghdr *msg);

#endif
