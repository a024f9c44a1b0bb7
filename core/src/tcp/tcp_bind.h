/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_bind.h - the users of local ports: each flow and each connection in TIME-WAIT, by local
 * address, and whether it allows others to share the port (SO_REUSEADDR, SO_REUSEPORT).
 */
#ifndef TOEC_TCP_BIND_H
#define TOEC_TCP_BIND_H

#include "tcb.h"

unsigned long toec_holders_size(void);
toec_u32 toec_holders_most(const struct toec_config *cfg);
/* Count a flow or a connection in TIME-WAIT as a user of this port; undo that. */
void toec_port_hold(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                    unsigned reuse);
void toec_port_leave(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                     unsigned reuse);
/* Sets TOEC_OPT_REUSE of a flow: at most TOEC_REUSE_ALL. */
void toec_set_reuse(struct toec_stack *s, struct toec_tcb *t, toec_u32 reuse);

/* Value of toec_pm.reuse: the TIME-WAIT entry holds the port now. */
#define TOEC_REUSE_GIVEN (TOEC_REUSE_ALL + 1u)

#endif
