/* SPDX-License-Identifier: Apache-2.0 */
/* nic.c - see nic.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nic.h"

#define BLOCKS     (NIC_FEATURES / 32)
#define MODERATION "rx-usecs"

/* A word and how the names of its features begin, or what they are. */
static const struct word {
    const char *name, *feature;
    bool prefix;
} words[NIC_WORDS] = {
    [NIC_TSO] = {"tso", "tx-tcp", true},     [NIC_GSO] = {"gso", "tx-generic-segmentation", false},
    [NIC_GRO] = {"gro", "rx-gro", false},    [NIC_TX] = {"tx", "tx-checksum-", true},
    [NIC_RX] = {"rx", "rx-checksum", false}, [NIC_SG] = {"sg", "tx-scatter-gather", true},
    [NIC_LRO] = {"lro", "rx-lro", false},
};

const char *nic_word_name(enum nic_word w)
{
    return words[w].name;
}

static bool is_of(const struct nic_feature *f, enum nic_word w)
{
    const char *name = words[w].feature;

    return words[w].prefix ? strncmp(f->name, name, strlen(name)) == 0 : !strcmp(f->name, name);
}

static int request(const char *interface, void *command)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc, e;
    struct ifreq r;

    if (fd < 0)
        return -1;
    memset(&r, 0, sizeof r);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
    r.ifr_data = command;
    rc = ioctl(fd, SIOCETHTOOL, &r);
    e = errno;
    close(fd);
    errno = e;
    return rc;
}

/* Returns how many features the kernel has. 0: errno. */
static size_t count_features(const char *name)
{
    struct {
        struct ethtool_sset_info head;
        uint32_t size;
    } q = {.head = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};

    if (request(name, &q) < 0 || !q.head.sset_mask)
        return 0;
    return q.size < NIC_FEATURES ? q.size : NIC_FEATURES;
}

static bool read_names(const char *name, struct nic *nic, size_t count)
{
    struct ethtool_gstrings *s = calloc(1, sizeof *s + count * ETH_GSTRING_LEN);
    bool ok;
    size_t i;

    if (!s)
        return false;
    s->cmd = ETHTOOL_GSTRINGS;
    s->string_set = ETH_SS_FEATURES;
    s->len = (uint32_t)count;
    ok = request(name, s) >= 0;
    for (i = 0; ok && i < count; i++)
        snprintf(nic->features[i].name, sizeof nic->features[i].name, "%.31s",
                 (const char *)s->data + i * ETH_GSTRING_LEN);
    free(s);
    return ok;
}

static bool read_states(const char *name, struct nic *nic, size_t count)
{
    struct {
        struct ethtool_gfeatures head;
        struct ethtool_get_features_block block[BLOCKS];
    } q = {.head = {.cmd = ETHTOOL_GFEATURES, .size = (uint32_t)(count + 31) / 32}};
    size_t i;

    if (request(name, &q) < 0)
        return false;
    for (i = 0; i < count; i++) {
        const struct ethtool_get_features_block *b = &q.block[i / 32];
        uint32_t bit = 1u << i % 32;

        nic->features[i].changeable = (b->available & bit) && !(b->never_changed & bit);
        nic->features[i].requested = b->requested & bit;
        nic->features[i].active = b->active & bit;
    }
    nic->count = count;
    return true;
}

/* Requests no change, which needs the right to make one. */
static bool may_change(const char *name, size_t count)
{
    struct {
        struct ethtool_sfeatures head;
        struct ethtool_set_features_block block[BLOCKS];
    } q = {.head = {.cmd = ETHTOOL_SFEATURES, .size = (uint32_t)(count + 31) / 32}};

    return request(name, &q) >= 0;
}

bool nic_read(const char *name, struct nic *nic)
{
    struct ethtool_coalesce c = {.cmd = ETHTOOL_GCOALESCE};
    size_t count;

    memset(nic, 0, sizeof *nic);
    snprintf(nic->name, sizeof nic->name, "%s", name);
    nic->exists = if_nametoindex(name) != 0;
    if (!nic->exists)
        return false;
    count = count_features(name);
    if (count == 0 || !read_names(name, nic, count) || !read_states(name, nic, count))
        return false;
    nic->permitted = may_change(name, count);
    nic->moderates = request(name, &c) >= 0;
    nic->adaptive = c.use_adaptive_rx_coalesce;
    nic->rx_usecs = c.rx_coalesce_usecs;
    return true;
}

bool nic_changeable(const struct nic *nic, enum nic_word w)
{
    size_t i;

    for (i = 0; i < nic->count; i++)
        if (is_of(&nic->features[i], w) && nic->features[i].changeable)
            return true;
    return false;
}

bool nic_active(const struct nic *nic, enum nic_word w)
{
    size_t i;

    for (i = 0; i < nic->count; i++)
        if (is_of(&nic->features[i], w) && nic->features[i].active)
            return true;
    return false;
}

void nic_request(struct nic *nic, uint32_t mask, bool on)
{
    size_t i;
    int w;

    for (w = 0; w < NIC_WORDS; w++)
        for (i = 0; (mask >> w & 1) && i < nic->count; i++)
            if (is_of(&nic->features[i], w) && nic->features[i].changeable)
                nic->features[i].requested = on;
}

static bool write_features(const struct nic *wanted, const struct nic *now)
{
    struct {
        struct ethtool_sfeatures head;
        struct ethtool_set_features_block block[BLOCKS];
    } q = {.head = {.cmd = ETHTOOL_SFEATURES, .size = (uint32_t)(wanted->count + 31) / 32}};
    bool any = false;
    size_t i;

    for (i = 0; i < wanted->count; i++) {
        const struct nic_feature *f = &wanted->features[i];

        if (!f->changeable || f->requested == now->features[i].requested)
            continue;
        any = true;
        q.block[i / 32].valid |= 1u << i % 32;
        if (f->requested)
            q.block[i / 32].requested |= 1u << i % 32;
    }
    return !any || request(wanted->name, &q) >= 0;
}

static bool write_moderation(const struct nic *wanted, const struct nic *now)
{
    struct ethtool_coalesce c = {.cmd = ETHTOOL_GCOALESCE};

    if (!wanted->moderates ||
        (wanted->adaptive == now->adaptive && wanted->rx_usecs == now->rx_usecs))
        return true;
    if (request(wanted->name, &c) < 0)
        return false;
    c.cmd = ETHTOOL_SCOALESCE;
    c.use_adaptive_rx_coalesce = wanted->adaptive;
    c.rx_coalesce_usecs = wanted->rx_usecs;
    return request(wanted->name, &c) >= 0;
}

bool nic_write(const struct nic *wanted, const char **what)
{
    struct nic now;

    *what = "offloads";
    if (!nic_read(wanted->name, &now))
        return false;
    if (now.count != wanted->count) {
        errno = ESTALE; /* another kernel or interface */
        return false;
    }
    if (!write_features(wanted, &now))
        return false;
    *what = MODERATION;
    return write_moderation(wanted, &now);
}

bool nic_same(const struct nic *nic, const struct nic *other, const char **what)
{
    size_t i;

    for (i = 0; i < other->count; i++) {
        const struct nic_feature *a = &nic->features[i], *b = &other->features[i];

        *what = b->name;
        if (a->requested != b->requested || a->active != b->active)
            return false;
    }
    *what = MODERATION;
    return nic->adaptive == other->adaptive && nic->rx_usecs == other->rx_usecs;
}

/* ---- routes ---- */

/* Searches a table of /proc/net for a default route by the interface: a line with `name`, for which
 * is_default() holds. */
static bool search(const char *path, const char *name, bool (*is_default)(const char *, char *))
{
    char line[512], interface[64];
    FILE *f = fopen(path, "re");
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = is_default(line, interface) && !strcmp(interface, name);
    if (f)
        fclose(f);
    return found;
}

#define IS_USABLE(flags) (((flags)&0x201u) == 1u) /* up, and not one that rejects */

static bool is_default4(const char *line, char *interface)
{
    unsigned destination, gateway, flags, mask;

    return sscanf(line, "%63s %x %x %x %*d %*u %*d %x", interface, &destination, &gateway, &flags,
                  &mask) == 5 &&
           !destination && !mask && IS_USABLE(flags);
}

static bool is_default6(const char *line, char *interface)
{
    char destination[40];
    unsigned length, flags;

    return sscanf(line, "%39s %x %*s %*s %*s %*s %*s %*s %x %63s", destination, &length, &flags,
                  interface) == 4 &&
           length == 0 && strspn(destination, "0") == 32 && IS_USABLE(flags);
}

bool nic_has_default_route(const char *name)
{
    return search("/proc/net/route", name, is_default4) ||
           search("/proc/net/ipv6_route", name, is_default6);
}
