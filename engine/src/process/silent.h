/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silent.h - quotas of connections to the control socket that have not sent a hello, so that one
 * user's silent connections keep neither other users nor root from it.
 */
#ifndef ENGINE_SILENT_H
#define ENGINE_SILENT_H

#include <stdint.h>
#include <sys/types.h>

struct client;

#define SILENT_PER_USER 16u /* of one user, except root */
#define SILENT_OF_USERS 64u /* of all users except root */
#define SILENT_OF_ROOT  64u /* root's own: users cannot use them up */

#define SILENT_NONE UINT32_MAX

/*
 * Returns the index of the connection to close before user uid gets another one: the oldest silent
 * one of this user when it has SILENT_PER_USER, else, when users have SILENT_OF_USERS in total, of
 * the user that has the most. A connection whose message has arrived is not silent. Returns
 * SILENT_NONE when there is room.
 */
uint32_t silent_victim(const struct client *clients, uint32_t count, uid_t uid);

#endif
