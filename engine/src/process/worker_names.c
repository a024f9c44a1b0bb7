/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_names.c - what the workers of one address have in common (worker_names.h). They claim what
 * a single engine claims (interlock.c, address.c), but the one that steers does, for all. The file
 * of their shared memory is beside the secret of the boot (boot_secret.c), one for each user,
 * network namespace and interface.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interlock.h"
#include "worker_names.h"

/* Returns the hash (FNV-1a) of network namespace and interface. */
static uint64_t hash_of(const char *interface)
{
    struct stat net;
    uint64_t hash = 0xcbf29ce484222325u;

    if (stat("/proc/self/ns/net", &net) == 0)
        hash ^= (uint64_t)net.st_ino;
    for (; *interface; interface++)
        hash = (hash ^ (uint8_t)*interface) * 0x100000001b3u;
    return hash;
}

static int make_names(const struct options *o, struct worker_names *w, char *err, size_t err_size)
{
    uid_t user = geteuid();
    unsigned i, n = 1;
    int rc;

    if (interlock_name(o->netif, w->interface, sizeof(w->interface)) != 0) {
        snprintf(err, err_size,
                 "--netif %s: several workers need af_xdp:IFNAME, tap:IFNAME, or wire:PATH with "
                 "side=a or side=b",
                 o->netif);
        return EXIT_CONFIG;
    }
    rc = address_names(o, w->addresses, err, err_size);
    if (rc >= 0)
        return rc;
    if (user == 0)
        snprintf(w->path, sizeof(w->path), "/run/toehold.workers.%016llx",
                 (unsigned long long)hash_of(w->interface));
    else
        snprintf(w->path, sizeof(w->path), "/run/user/%u/toehold.workers.%016llx", user,
                 (unsigned long long)hash_of(w->interface));
    w->group.path = w->path;
    w->group.claims[0] = w->interface;
    for (i = 0; i < 2; i++)
        if (w->addresses[i][0])
            w->group.claims[n++] = w->addresses[i];
    return -1;
}

int worker_claim(const struct options *o, int *lock, struct address_claims *addresses,
                 struct worker_names *names, char *err, size_t err_size)
{
    *lock = -1;
    addresses->fd[0] = addresses->fd[1] = -1;
    memset(names, 0, sizeof(*names));
    if (strncmp(o->netif, "workers(", 8) == 0)
        return make_names(o, names, err, err_size);
    *lock = interlock_claim(o->netif, err, err_size);
    if (*lock == -1)
        return EXIT_CONFIG;
    return address_hold(o, addresses, err, err_size);
}

const struct netio_group *worker_group(const struct worker_names *names)
{
    return names->group.path ? &names->group : NULL;
}
