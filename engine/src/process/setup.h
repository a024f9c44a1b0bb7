/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.h - from options to what an engine is made with: for toed and for an engine within a
 * program. Where a function can fail it returns -1 to go on, or an exit code with a sentence in
 * err.
 */
#ifndef ENGINE_SETUP_H
#define ENGINE_SETUP_H

#include <toe/core.h>
#include <toe/netio.h>

#include "options.h"

/* Draws the secret, and the seed of the impairing wire, which prints it and so is never part of
 * the secret. With a fixed secret (a test) both are the same again. 0, or -1 with errno. */
int setup_secret(struct options *o, uint64_t *netio_seed);
/* heir: what netio_heir() of another toed gave; -1: none. */
int setup_netio(const struct options *o, uint64_t seed, uint32_t queue, int heir,
                struct netio **out, char *err, size_t err_size);
/* What the interface and the options say together. */
int setup_settle(const struct options *o, const struct netio *n, struct netio_info *info,
                 uint32_t *mtu, uint8_t mac[6], char *err, size_t err_size);
void setup_core(const struct options *o, const uint8_t mac[6], uint32_t mtu, uint32_t id,
                struct toec_config *cfg);

#endif
