/* SPDX-License-Identifier: Apache-2.0 */
/* ip6.h - what of the stack's IPv6 the back end and the hosts must know. */
#ifndef ENGINE_IP6_H
#define ENGINE_IP6_H

#include "qp.h"

/* Writes what the TOE has of IPv6 into the status page. */
void ip6_tell(struct engine *e, struct qp *qp);
/* At every step: tells the back end and the hosts when it has changed. */
void ip6_update(struct engine *e);

#endif
