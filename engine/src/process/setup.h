/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.h - derives the parameters of an engine from options, for toed and for an engine within a
 * program. Functions with err return -1 to continue, or an exit code with a message in err.
 */
#ifndef ENGINE_SETUP_H
#define ENGINE_SETUP_H

#include <toe/core.h>
#include <toe/netio.h>

#include "kernel/port_range.h"
#include "options.h"

/* Draws the secret and the seed of the impairing wire. The wire prints its seed, so the seed is
 * never part of the secret. With a fixed secret (a test) both are reproducible. Returns 0, or -1
 * with errno. */
int setup_secret(struct options *o, uint64_t *netio_seed);
/* Reads the secret of this boot (boot_secret.h), which a fixed secret replaces. When it cannot be
 * used, writes the reason to why (else ""), and numbers come from the secret of this start alone.
 */
void setup_boot_secret(struct options *o, char *why, size_t why_size);
/* Opens the back end. heir: the descriptor from netio_heir() in another toed; -1: none. group: of
 * workers(N); NULL: none. */
int setup_netio(const struct options *o, uint64_t seed, uint32_t queue, int heir,
                const struct netio_group *group, struct netio **out, char *err, size_t err_size);
/* Combines the interface's properties with the options. */
int setup_settle(const struct options *o, const struct netio *n, struct netio_info *info,
                 uint32_t *mtu, uint8_t mac[6], char *err, size_t err_size);
void setup_core(const struct options *o, const uint8_t mac[6], uint32_t mtu, uint32_t id,
                struct toec_config *cfg);
/* Fills what applies to connections that are made from now on. */
void setup_defaults(const struct options *o, struct toec_defaults *d);
/* Sets the ephemeral ports; r must stay valid. Each of several workers of one address has a part of
 * them, so that no two connect from the same port. */
void setup_ports(const struct port_range *r, const struct netio_info *i, struct toec_config *cfg);

#endif
