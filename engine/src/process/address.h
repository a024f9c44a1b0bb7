/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - refuses a TOE address that something else on this host has: the kernel, or another
 * TOE of the network namespace.
 */
#ifndef ENGINE_ADDRESS_H
#define ENGINE_ADDRESS_H

#include <stddef.h>

#include "options.h"

/* The claims of a TOE's addresses: descriptors that hold them until they are closed; -1: none. */
struct address_claims {
    int fd[2]; /* IPv4, IPv6 */
};

/*
 * Checks that no interface of the kernel has the addresses of --ip and --ip6, and claims them in
 * this network namespace. Wires and files (interlock_is_private()) need no claim, as their frames
 * do not pass this host's network. Returns -1 to continue, or an exit code with a message in err.
 */
int address_hold(const struct options *o, struct address_claims *c, char *err, size_t err_size);
#define ADDRESS_NAME 80
/* As address_hold(), for a claim made elsewhere: writes the names of its abstract sockets, "" where
 * there is no address. */
int address_names(const struct options *o, char names[2][ADDRESS_NAME], char *err, size_t err_size);
void address_release(struct address_claims *c);

#endif
