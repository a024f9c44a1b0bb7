/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c - derives netio and the stack's configuration from options (setup.h). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "boot_secret.h"
#include "hosts/shared.h"
#include "setup.h"

int setup_secret(struct options *o, uint64_t *netio_seed)
{
    if (o->has_secret) {
        memcpy(netio_seed, o->secret, sizeof(*netio_seed));
        return 0;
    }
    if (getrandom(o->secret, sizeof(o->secret), 0) != sizeof(o->secret) ||
        getrandom(netio_seed, sizeof(*netio_seed), 0) != sizeof(*netio_seed))
        return -1;
    return 0;
}

void setup_boot_secret(struct options *o, char *why, size_t why_size)
{
    char path[64], reason[256];

    *why = 0;
    if (o->has_secret)
        return;
    boot_secret_path(geteuid(), path, sizeof(path));
    if (boot_secret_read(path, o->isn_secret, reason, sizeof(reason)) == 0)
        return;
    memset(o->isn_secret, 0, sizeof(o->isn_secret));
    snprintf(why, why_size,
             "no secret of this boot: %s. A connection with addresses and ports of an earlier one "
             "may open later",
             reason);
}

int setup_netio(const struct options *o, uint64_t seed, uint32_t queue, int heir,
                const struct netio_group *group, struct netio **out, char *err, size_t err_size)
{
    struct netio_config cfg = {.queue = queue, .heir = heir + 1, .group = group};

    memcpy(cfg.ip, o->ip, sizeof(cfg.ip));
    cfg.ip6 = o->has_ip6;
    cfg.vlan = (uint16_t)o->vlan;
    cfg.seed = seed;
    cfg.shared = o->shared;
    *out = netio_open(o->netif, &cfg, err, err_size);
    return *out ? -1 : EXIT_CONFIG;
}

#define PORT_FIRST    32768u /* Linux's ephemeral ports */
#define PORT_LAST     60999u
#define IP4_MTU_LEAST 576u  /* as --mtu */
#define IP6_MTU_LEAST 1280u /* RFC 8200 5; Linux disables IPv6 on smaller links too */

/* Returns whether the stack can use the MTU; else sets err. */
static bool check_mtu(const struct options *o, uint32_t mtu, char *err, size_t err_size)
{
    uint32_t least = o->has_ip6 ? IP6_MTU_LEAST : IP4_MTU_LEAST;

    if (mtu >= least)
        return true;
    snprintf(err, err_size, "%s %u: IPv%d needs at least %u%s", o->mtu ? "--mtu" : "MTU", mtu,
             o->has_ip6 ? 6 : 4, least,
             o->mtu ? "" : ": give the interface a larger one ('ip link set IFNAME mtu 1500')");
    return false;
}

int setup_settle(const struct options *o, const struct netio *n, struct netio_info *info,
                 uint32_t *mtu, uint8_t mac[6], char *err, size_t err_size)
{
    netio_get_info(n, info);
    *mtu = o->mtu ? o->mtu : info->mtu;
    if (*mtu > info->mtu) {
        snprintf(err, err_size, "--mtu %u: the interface carries %u at most", *mtu, info->mtu);
        return EXIT_CONFIG;
    }
    if (!check_mtu(o, *mtu, err, err_size))
        return EXIT_CONFIG;
    memcpy(mac, o->has_mac ? o->mac : info->mac, 6);
    if (o->engines > info->queues) {
        snprintf(err, err_size,
                 "--engines %u: each needs a receive queue and the interface has %u; give it more "
                 "queues or toed fewer engines",
                 o->engines, info->queues);
        return EXIT_CONFIG;
    }
    /* Frames of the other queues would reach the kernel, which resets connections that it does not
     * know. */
    if (o->shared && o->engines < info->queues) {
        snprintf(err, err_size,
                 "--ip shared: the interface has %u receive queues and each needs an engine: "
                 "--engines %u, or fewer queues ('ethtool -L IFNAME combined %u', or 'rx %u')",
                 info->queues, info->queues, o->engines, o->engines);
        return EXIT_CONFIG;
    }
    if (o->engines < info->queues)
        log_warning(
            "the interface has %u receive queues, and %u in use: what arrives in the others "
            "is lost. Use --engines %u, or fewer queues ('ethtool -L IFNAME combined %u')",
            info->queues, o->engines, info->queues, o->engines);
    return -1;
}

/*
 * Derives the secret of interface identifiers (RFC 7217) from the machine ID, so that they are the
 * same after each start and do not identify the machine. With a fixed seed (tests), or without a
 * machine ID, the engine's secret is used.
 */
static void machine_secret(uint8_t secret[16])
{
    FILE *f = fopen("/etc/machine-id", "re");
    unsigned i, byte;

    for (i = 0; f && i < 16 && fscanf(f, "%2x", &byte) == 1; i++)
        secret[i] = (uint8_t)(byte ^ (0x70u + i));
    if (f)
        fclose(f);
}

static void core6(const struct options *o, struct toec_config *cfg)
{
    if (o->shared6 && cfg->mtu >= IP6_MTU_LEAST)
        cfg->ip6 = TOEC_IP6_STATIC; /* the kernel supplies its addresses */
    if (!o->has_ip6)
        return;
    cfg->ip6 = o->ip6_auto ? TOEC_IP6_AUTO : TOEC_IP6_STATIC;
    memcpy(cfg->ip6_addr, o->ip6, sizeof(cfg->ip6_addr));
    memcpy(cfg->ip6_gateway, o->gateway6, sizeof(cfg->ip6_gateway));
    cfg->ip6_prefix_len = o->prefix_len6;
    if (!o->has_secret)
        machine_secret(cfg->ip6_secret);
}

void setup_defaults(const struct options *o, struct toec_defaults *d)
{
    d->cc = (enum toec_cc)o->cc;
    d->ecn = (enum toec_ecn_policy)(TOEC_ECN_OFF + o->ecn); /* in the same order */
    d->mtu_probing = (enum toec_mtu_probing)(TOEC_MTU_PROBING_OFF + o->mtu_probing);
    d->rfc1337 = (toec_u32)o->rfc1337;
}

void setup_core(const struct options *o, const uint8_t mac[6], uint32_t mtu, uint32_t id,
                struct toec_config *cfg)
{
    struct toec_defaults d;

    setup_defaults(o, &d);
    memset(cfg, 0, sizeof(*cfg));
    memcpy(cfg->mac, mac, sizeof(cfg->mac));
    memcpy(cfg->ip, o->ip, sizeof(cfg->ip));
    if (o->shared)
        cfg->link = &shared_link;
    else
        memcpy(cfg->gateway, o->gateway, sizeof(cfg->gateway));
    memcpy(cfg->secret, o->secret, sizeof(cfg->secret));
    memcpy(cfg->isn_secret, o->isn_secret, sizeof(cfg->isn_secret));
    cfg->prefix_len = o->prefix_len;
    cfg->mtu = mtu;
    cfg->ttl = o->ttl;
    cfg->cc = d.cc;
    cfg->ecn = d.ecn;
    cfg->mtu_probing = d.mtu_probing;
    cfg->max_flows = o->max_flows;
    cfg->max_neighbours = o->max_neighbours;
    cfg->max_listeners = 1024;
    cfg->rfc1337 = d.rfc1337;
    cfg->arp_probe = (toec_u32)o->check_ip;
    cfg->local = 1;
    core6(o, cfg);
    cfg->home_index = id;
    cfg->home_count = o->engines;
}

void setup_ports(const struct port_range *r, const struct netio_info *i, struct toec_config *cfg)
{
    cfg->port_first = r->first;
    cfg->port_last = r->last;
    if (i->workers) {
        uint32_t first = r->first ? r->first : PORT_FIRST, last = r->last ? r->last : PORT_LAST;
        uint32_t part = (last - first + 1) / i->workers;

        cfg->port_first = (uint16_t)(first + i->worker * part);
        cfg->port_last = (uint16_t)(cfg->port_first + (part ? part - 1 : 0));
    }
    cfg->ports_reserved = r->reserved;
}
