/* SPDX-License-Identifier: Apache-2.0 */
/* worker_names.h - what the workers of one address, workers(N):SPEC, have in common. */
#ifndef ENGINE_WORKER_NAMES_H
#define ENGINE_WORKER_NAMES_H

#include <toe/netio.h>

#include "address.h"

struct worker_names {
    struct netio_group group; /* points into the rest */
    char path[96];
    char interface[88];
    char addresses[2][ADDRESS_NAME];
};

/*
 * Claims interface and addresses for an engine within a program. Of several workers the one that
 * steers does it, in netio/, by the names of *names. *lock: a descriptor that holds the claim, or
 * negative. Returns -1 to continue, or an exit code with a message in err.
 */
int worker_claim(const struct options *o, int *lock, struct address_claims *addresses,
                 struct worker_names *names, char *err, size_t err_size);
/* Returns the group for setup_netio(), NULL: there is one process only. */
const struct netio_group *worker_group(const struct worker_names *names);

#endif
