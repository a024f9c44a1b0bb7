/* SPDX-License-Identifier: Apache-2.0 */
/* exec_relay.h - a process that stays behind and serves the connections (exec_relay.c). Lock held.
 */
#ifndef LIBTOE_EXEC_RELAY_H
#define LIBTOE_EXEC_RELAY_H

#include "libtoe.h"

/*
 * Before an exec of a program without libtoe: forks a process that stays behind and owns the
 * connections from the exec on. Their numbers become Unix sockets. False: there are no connections,
 * or the process cannot be created. come_back(): the exec has failed.
 */
TOE_HIDDEN bool thandover_stay_behind(void);
TOE_HIDDEN void thandover_come_back(void);
/* Called when this process is about to end: another stays behind for its relays. True: this process
 * has no state of the TOE any more. */
TOE_HIDDEN bool thandover_succeed(void);

#endif
