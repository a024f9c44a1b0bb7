/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - who carries a socket: the TOE, the kernel, or both (policy.c). Lock held. */
#ifndef LIBTOE_POLICY_H
#define LIBTOE_POLICY_H

#include "name.h"

enum tcarrier { TCARRY_KERNEL, TCARRY_TOE, TCARRY_BOTH, TCARRY_REFUSED };

/* Notes why fd stays with the kernel (toe_why_not) and says it once per reason on stderr where
 * settings ask for that. `why` is a string constant. True: TOEHOLD_REQUIRE, so the call must fail.
 */
TOE_HIDDEN bool tpolicy_pass(int fd, const char *why);
TOE_HIDDEN enum tcarrier tpolicy_connect(int fd, struct tname *to);
TOE_HIDDEN enum tcarrier tpolicy_listen(int fd, const struct tname *at, bool v6only);
/* Notes the making of a socket that TCP has nothing to do with. Lock not held. */
TOE_HIDDEN void tpolicy_other(int domain, int kind);
/* The program wants an io_uring: said once. True: it is not to have it. */
TOE_HIDDEN bool tpolicy_ring(void);
/* Turns an undecided socket over to the kernel. */
TOE_HIDDEN void tsock_to_kernel(struct tsock *s, int fd);
/* The kernel has accepted a connection: the listener's reason is its own. Returns fd. */
TOE_HIDDEN int tpolicy_accepted(int listener, int fd);
/* The descriptor is closed or reused: forgets why it was not carried. */
TOE_HIDDEN void tpolicy_clear(int fd);

#endif
