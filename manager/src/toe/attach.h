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
    bool shared, stays;
};
/* A queue pair on the given engine, or NULL with a sentence in err. */
TOE_HIDDEN struct tqp *tqp_attach(const struct tconfig *cfg, uint32_t engine, struct twelcome *w,
                                  char *err, size_t err_size);
/* It is to end with the process of this pidfd. */
TOE_HIDDEN void tqp_moved(const struct tqp *qp, int pidfd);
TOE_HIDDEN void tqp_detach(struct tqp *qp);
/* In a fork child: descriptors closed, memory of the parent's area (not inherited) not touched. */
TOE_HIDDEN void tqp_forget(struct tqp *qp);
/* Has the TOE closed the control connection? Costs a system call. */
TOE_HIDDEN bool tqp_gone(const struct tqp *qp);

#endif
