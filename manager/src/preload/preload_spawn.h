/* SPDX-License-Identifier: Apache-2.0 */
/* preload_spawn.h - descriptors in the control data of Unix sockets (preload_spawn.c). */
#ifndef LIBTOE_PRELOAD_SPAWN_H
#define LIBTOE_PRELOAD_SPAWN_H

#include "libtoe.h"

/* Calls libc's sendmsg() on a kernel socket, after preparing connections of the TOE to be passed.
 */
TOE_HIDDEN ssize_t preload_send_rights(int fd, const struct msghdr *msg, int flags);
/* Returns whether the message passes descriptors of libtoe, which preload_send_rights() prepares.
 */
TOE_HIDDEN bool preload_has_rights(const struct msghdr *msg);
/* Registers the descriptors of a received message: listeners among them can be offloaded too. */
TOE_HIDDEN void preload_take_rights(const struct msghdr *msg);

/* Creates a child by make(arg), which is or acts as fork(), and like vfork() returns in the parent
 * when the child has executed a program, or ended. Returns what make() returned. */
TOE_HIDDEN long preload_fork_and_wait(long (*make)(void *arg), void *arg);

#endif
