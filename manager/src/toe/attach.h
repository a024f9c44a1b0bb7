/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h - the host's side of toe/attach.h: how a queue pair is attached and detached (attach.c).
 * Lock held. */
#ifndef LIBTOE_ATTACH_H
#define LIBTOE_ATTACH_H

#include "config.h"

struct tqp;
struct twelcome {
    uint32_t engines;
    uint32_t ip, mask, gw;
    bool shared, stays, takes_eor;
};
/* Attaches a queue pair on the given engine. NULL with a sentence in err when that fails. */
TOE_HIDDEN struct tqp *tqp_attach(const struct tconfig *cfg, uint32_t engine, struct twelcome *w,
                                  char *err, size_t err_size);
/* Binds the life of the queue pair to the process of this pidfd. */
TOE_HIDDEN void tqp_moved(const struct tqp *qp, int pidfd);
TOE_HIDDEN void tqp_detach(struct tqp *qp);
/* In a fork child: closes the descriptors; leaves the parent's area alone, which is not inherited.
 */
TOE_HIDDEN void tqp_forget(struct tqp *qp);
/* Returns whether the TOE has closed the control connection. Costs a system call. */
TOE_HIDDEN bool tqp_gone(const struct tqp *qp);

#endif
