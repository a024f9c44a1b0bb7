/* SPDX-License-Identifier: Apache-2.0 */
/* nic.h - the offloads and the interrupt moderation of an interface, by SIOCETHTOOL. */
#ifndef TOE_CLI_TUNE_NIC_H
#define TOE_CLI_TUNE_NIC_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of ethtool -K that tune switches, as bits of masks. Each is several features of the
 * kernel. */
enum nic_word { NIC_TSO, NIC_GSO, NIC_GRO, NIC_TX, NIC_RX, NIC_SG, NIC_LRO, NIC_WORDS };

#define NIC_FEATURES 256 /* the most that are read */

struct nic_feature {
    char name[32];
    bool changeable, requested, active;
};

/* What an interface has and how it is set. */
struct nic {
    char name[IF_NAMESIZE];
    size_t count; /* features; 0: the driver has no ethtool */
    struct nic_feature features[NIC_FEATURES];
    bool moderates;         /* the driver has interrupt moderation */
    bool adaptive;          /* it follows the load */
    uint32_t rx_usecs;      /* delay of an interrupt for a received frame */
    bool exists, permitted; /* permitted: this process may change it */
};

/* Returns the word, such as "tso". */
const char *nic_word_name(enum nic_word w);

/* Reads the interface. Returns false with errno when the kernel refuses; *nic then has what was
 * read, and exists whether there is such an interface. */
bool nic_read(const char *name, struct nic *nic);

/* Returns whether any feature of the word can be changed, or is active. */
bool nic_changeable(const struct nic *nic, enum nic_word w);
bool nic_active(const struct nic *nic, enum nic_word w);

/* Sets which features of the words in `mask` are requested; changes in `nic` alone, for
 * nic_write().
 */
void nic_request(struct nic *nic, uint32_t mask, bool on);

/* Sets the features and the moderation of the interface as in `wanted`, those that differ alone.
 * Returns false with errno, and *what names what could not be set. */
bool nic_write(const struct nic *wanted, const char **what);

/* Returns whether features are requested and active, and interrupts moderated, as in `other`. Else
 * *what names the first difference. */
bool nic_same(const struct nic *nic, const struct nic *other, const char **what);

/* Returns whether a default route, IPv4 or IPv6, leaves by the interface. */
bool nic_has_default_route(const char *name);

#endif
