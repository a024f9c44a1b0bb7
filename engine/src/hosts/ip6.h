/* SPDX-License-Identifier: Apache-2.0 */
/* ip6.h - reports the stack's IPv6 configuration to the back end and the hosts. */
#ifndef ENGINE_IP6_H
#define ENGINE_IP6_H

#include "qp.h"

/* Writes the TOE's IPv6 configuration into the status page. */
void ip6_notify(struct engine *e, struct qp *qp);
/* Called in every step: notifies the back end and the hosts when it has changed. */
void ip6_update(struct engine *e);

#endif
