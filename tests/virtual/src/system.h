/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - Fast Open's settings of the whole system (system.c). */
#ifndef VIRTUAL_SYSTEM_H
#define VIRTUAL_SYSTEM_H

/* toe_listen() of a listener that has the system's settings. */
int system_listen(int fd, int backlog);
/* Gives a listener that has no key of its own the system's. errno stays. */
void system_take_key(int fd);
/* Before a SYN that may carry data, if one is wanted. Returns 0, or -1 with errno: clients have no
 * Fast Open. */
int system_client_may(int fd, int wanted);

#endif
