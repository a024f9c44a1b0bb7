/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - which signals end a call that sleeps (signals.c). Lock held, except where noted. */
#ifndef LIBTOE_SIGNALS_H
#define LIBTOE_SIGNALS_H

#include "wait.h"

/* As twait_sleep(), for a call that Linux restarts after some signals (recv, not poll; signals.c).
 * kfds has room for one more. 0, or -1 when the call ends. */
TOE_HIDDEN int twait_call(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline);
/* Declares that tsig_changed() is called at each change of a signal's handler from here on. */
TOE_HIDDEN void tsig_watch(void);
TOE_HIDDEN void tsig_changed(void);
/* For a sleep: returns a signalfd of the signals that restart calls and are not blocked, and a mask
 * with them blocked; -1 when that is not needed or not possible. The signalfd is kept per thread.
 */
TOE_HIDDEN int tsig_sort(sigset_t *mask);
/* Closes the signalfd of a thread that ends, or of a fork child. */
TOE_HIDDEN void tsig_end(void);

#endif
