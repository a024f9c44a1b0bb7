/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.h - what can be set by --so_flags and by sysctl lines of scripts. */
#ifndef VIRTUAL_KNOBS_H
#define VIRTUAL_KNOBS_H

#include <stddef.h>
#include <stdint.h>

#include <toe/core.h>

/* Fast Open: for clients, for listeners, for clients without a cookie, listeners without one, and
 * listeners that have not asked for it. */
#define FO_CLIENT           0x001u
#define FO_SERVER           0x002u
#define FO_CLIENT_NO_COOKIE 0x004u
#define FO_SERVER_NO_COOKIE 0x200u
#define FO_EVERY_LISTENER   0x400u

struct knobs {
    uint64_t seed;
    struct toec_config core; /* as the stack is made with */
    int has_ip;              /* local_ip was given; else the first bind() gives it */
    uint32_t rx_size, tx_size, slots;
    uint8_t fo_key[16]; /* of listeners without a key of their own, if has_fo_key */
    int has_fo_key;
    uint32_t fastopen; /* bits of net.ipv4.tcp_fastopen: FO_* */
    uint32_t isn;      /* of every connection; 0: core/ chooses, by RFC 6528 */
};

void knobs_default(struct knobs *k);
/* "name=value" separated by commas or blanks. running: the stack exists already. Returns 0, or -1
 * with a message in err. */
int knobs_set(struct knobs *k, const char *flags, int running, char *err, size_t err_size);
/* The value as text into out; NULL: unknown name. */
const char *knobs_get(const struct knobs *k, const char *name, char *out, size_t size);
const char *knobs_name(unsigned i, const char **help);

#endif
