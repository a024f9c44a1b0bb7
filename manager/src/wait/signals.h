/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - which signals end a call that sleeps (signals.c). Lock held, except where said. */
#ifndef LIBTOE_SIGNALS_H
#define LIBTOE_SIGNALS_H

#include "wait.h"

/* twait_sleep() of a call that Linux begins again after some signals (recv, not poll; signals.c):
 * kfds has room for one more. 0, or -1 when the call ends. */
TOE_HIDDEN int twait_call(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline);
/* From here on tsig_changed() tells of each change of a signal's handler. */
TOE_HIDDEN void tsig_watch(void);
TOE_HIDDEN void tsig_changed(void);
/* For a sleep: a signalfd of the signals that restart and are not blocked, and a mask with them
 * blocked; -1 when that is not needed or cannot be had. The thread's own, kept. */
TOE_HIDDEN int tsig_sort(sigset_t *mask);
/* The thread ends, or is that of a fork child: its signalfd is given back. */
TOE_HIDDEN void tsig_end(void);

#endif
