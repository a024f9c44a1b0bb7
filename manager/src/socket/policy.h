/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - the carrier of a socket: the TOE, the kernel, or both (policy.c). Lock held. */
#ifndef LIBTOE_POLICY_H
#define LIBTOE_POLICY_H

#include "name.h"

enum tcarrier { TCARRY_KERNEL, TCARRY_TOE, TCARRY_BOTH, TCARRY_REFUSED };

/* Records why fd stays with the kernel (toe_why_not), and logs each reason once if the settings
 * request that. `why` is a string constant. True: TOEHOLD_REQUIRE, so the call must fail. */
TOE_HIDDEN bool tpolicy_pass(int fd, const char *why);
TOE_HIDDEN enum tcarrier tpolicy_connect(int fd, struct tname *to);
/* Returns the carrier of a connection from `from`, the name to which bind() bound fd, that
 * tpolicy_connect() has found fit for the TOE. */
TOE_HIDDEN enum tcarrier tpolicy_source(int fd, const struct tname *from);
/* Returns whether `at`, which is not a wildcard, is an address of the TOE. */
TOE_HIDDEN bool tpolicy_toes(const struct tname *at);
TOE_HIDDEN enum tcarrier tpolicy_listen(int fd, const struct tname *at, bool v6only);
/* Logs the creation of an IP socket that is not TCP, which the kernel carries. Lock not held. */
TOE_HIDDEN void tpolicy_other(int domain, int kind);
/* Logs, once, why the kernel has not bound a socket that is UDP to the TOE's address, and the cure.
 * Keeps errno. Lock not held. */
TOE_HIDDEN void tpolicy_bind_failed(int fd, const struct sockaddr *addr, socklen_t len);
/* Decides on an io_uring that the program creates, and logs it, once. True: the creation must fail,
 * because there is a TOE or TOEHOLD_REQUIRE is set, and TOEHOLD_IO_URING is not. */
TOE_HIDDEN bool tpolicy_ring(void);
/* Families of addresses. */
struct tfamilies {
    bool ip4, ip6;
};
/* Adds those of which the TOE has addresses. Lock not held. */
TOE_HIDDEN void tpolicy_families(struct tfamilies *f);
/* Leaves an undecided socket to the kernel. */
TOE_HIDDEN void tsock_to_kernel(struct tsock *s, int fd);
/* Gives a connection that the kernel accepted the reason of its listener. Returns fd. */
TOE_HIDDEN int tpolicy_accepted(int listener, int fd);
/* Forgets why fd was not carried; it is closed or reused. */
TOE_HIDDEN void tpolicy_clear(int fd);

#endif
