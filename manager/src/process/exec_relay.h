/* SPDX-License-Identifier: Apache-2.0 */
/* exec_relay.h - a process that stays behind and serves the connections (exec_relay.c). Lock held.
 */
#ifndef LIBTOE_EXEC_RELAY_H
#define LIBTOE_EXEC_RELAY_H

#include "libtoe.h"

/*
 * Before an exec of a program without libtoe. A process stays behind that has the
 * connections from the exec on, and the numbers that lead there are Unix sockets. False: there is
 * none to be left, or no process. come_back(): the exec has failed.
 */
TOE_HIDDEN bool thandover_stay_behind(void);
TOE_HIDDEN void thandover_come_back(void);
/* This process is about to end: another stays behind for its relays. True: nothing of the TOE is
 * here any more. */
TOE_HIDDEN bool thandover_succeed(void);

#endif
