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

/* Returns whether the specification is for several workers. */
int worker_names_wanted(const char *spec);
/* Fills in the group of the effective user, interface and addresses. Returns -1 to continue, or an
 * exit code with a message in err. */
int worker_names_make(const struct options *o, struct worker_names *w, char *err, size_t err_size);

#endif
