/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio.c - finds the back end by its name, and forwards calls to it.
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"

#define BETWEEN_MAX 512u  /* most characters between the parentheses of impair(...) and tee(...) */
#define NESTED_MAX  2000u /* length of a whole specification */

static const struct {
    const char *name;
    netio_open_fn *open;
    netio_wrap_fn *wrap;
    const char *form;
} backends[] = {
    {"af_xdp", af_xdp_open, NULL, "af_xdp:IFNAME[,OPTIONS]"},
    {"tap", tap_open, NULL, "tap:IFNAME[,OPTIONS]"},
    {"wire", wire_open, NULL, "wire:PATH[,OPTIONS]"},
    {"dpdk", dpdk_open, NULL, "dpdk:PORT[,OPTIONS]"},
    {"pcap", pcap_file_open, NULL, "pcap:in=FILE,out=FILE"},
    {"impair", NULL, impair_open, "impair(OPTIONS):SPEC"},
    {"tee", NULL, tee_open, "tee(FILE):SPEC"},
    {"workers", NULL, workers_open, "workers(N):SPEC"},
};

int backend_one_queue(const char *who, const struct netio_config *cfg, const struct netio_err *err)
{
    if (cfg->queue == 0)
        return 0;
    netio_err_set(err, "%s: there is no queue %u: it has one queue (use one engine)", who,
                  cfg->queue);
    return -1;
}

static struct netio *open_wrap(size_t i, const char *rest, const struct netio_config *cfg,
                               const struct netio_err *err)
{
    const char *end = *rest == '(' ? strchr(rest, ')') : NULL;
    char between[BETWEEN_MAX];
    size_t len;

    if (!end || end[1] != ':') {
        netio_err_set(err, "network interface '%s%s': write %s", backends[i].name, rest,
                      backends[i].form);
        return NULL;
    }
    len = (size_t)(end - rest - 1);
    if (len >= sizeof(between)) {
        netio_err_set(err, "%s: more than %u characters between the parentheses", backends[i].name,
                      BETWEEN_MAX - 1);
        return NULL;
    }
    memcpy(between, rest + 1, len);
    between[len] = '\0';
    return backends[i].wrap(between, end + 2, cfg, err);
}

/* Enables the feature that requires nothing from the user. */
static struct netio *opened(struct netio *n)
{
    if (n)
        n->features = n->info.offered & NETIO_O_RX_CSUM;
    return n;
}

struct netio *netio_open(const char *spec, const struct netio_config *cfg, char *err,
                         size_t err_size)
{
    const struct netio_err e = {err, err_size};
    size_t name_len = strcspn(spec, ":(");
    size_t i;

    if (strlen(spec) > NESTED_MAX) {
        netio_err_set(&e, "network interface: specification longer than %u characters", NESTED_MAX);
        return NULL;
    }
    for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        if (strlen(backends[i].name) != name_len || memcmp(backends[i].name, spec, name_len) != 0)
            continue;
        if (backends[i].wrap)
            return opened(open_wrap(i, spec + name_len, cfg, &e));
        if (cfg->shared && backends[i].open != af_xdp_open) {
            netio_err_set(&e,
                          "network interface '%s': only af_xdp:IFNAME can share an address with "
                          "the kernel",
                          spec);
            return NULL;
        }
        if (spec[name_len] == ':')
            return opened(backends[i].open(spec + name_len + 1, cfg, &e));
        netio_err_set(&e, "network interface '%s': write %s", spec, backends[i].form);
        return NULL;
    }
    netio_err_set(&e,
                  "network interface '%s': unknown kind '%.*s': known are af_xdp:IFNAME, "
                  "tap:IFNAME, wire:PATH, dpdk:PORT, pcap:in=FILE,out=FILE, impair(OPTIONS):SPEC, "
                  "tee(FILE):SPEC and workers(N):SPEC",
                  spec, (int)name_len, spec);
    return NULL;
}

void netio_close(struct netio *n)
{
    if (n)
        n->ops->close(n);
}

void netio_get_info(const struct netio *n, struct netio_info *out)
{
    *out = n->info;
    out->mode = n->mode;
}

void netio_get_stats(const struct netio *n, struct netio_stats *out)
{
    *out = n->stats;
    if (n->ops->add_stats)
        n->ops->add_stats(n, out);
}

uint32_t netio_set_features(struct netio *n, uint32_t wanted)
{
    uint32_t f = wanted & n->info.offered;

    if ((f & (NETIO_O_TX_CSUM | NETIO_O_SG)) != (NETIO_O_TX_CSUM | NETIO_O_SG))
        f &= ~NETIO_O_TSO;
    if (!(f & NETIO_O_RX_CSUM))
        f &= ~NETIO_O_PARTIAL;
    if (!(f & NETIO_O_PARTIAL))
        f &= ~NETIO_O_LRO;
    if (f != n->features) {
        n->features = f;
        if (n->ops->set_features)
            n->ops->set_features(n);
    }
    return f;
}

void netio_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count)
{
    if (n->ops->set_ip6)
        n->ops->set_ip6(n, addrs, count < NETIO_IP6_MAX ? count : NETIO_IP6_MAX);
}

void netio_take_port(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    if (n->ops->take_port)
        n->ops->take_port(n, ip6, port, how);
}

int netio_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on)
{
    return n->ops->take_place ? n->ops->take_place(n, addr, port, on) : 0;
}

int netio_heir(const struct netio *n)
{
    return n->ops->heir ? n->ops->heir(n) : -1;
}

int netio_settle(struct netio *n, char *err, size_t err_size)
{
    const struct netio_err e = {err, err_size};

    return n->ops->settle ? n->ops->settle(n, &e) : 0;
}

int netio_activate(struct netio *n, char *err, size_t err_size)
{
    const struct netio_err e = {err, err_size};

    return n->ops->activate ? n->ops->activate(n, &e) : 0;
}

void netio_listens(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    if (n->ops->listens)
        n->ops->listens(n, ip6, port, how);
}

void netio_forget(struct netio *n)
{
    if (n->ops->forget)
        n->ops->forget(n);
}

int netio_tend(struct netio *n, char *text, size_t text_size)
{
    const struct netio_err e = {text, text_size};

    return n->ops->tend ? n->ops->tend(n, &e) : 0;
}

unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    return n->ops->rx(n, frames, max, now_ns);
}

void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    n->ops->rx_release(n, frames, count);
}

int netio_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    return n->ops->rx_hold ? n->ops->rx_hold(n, frame) : -1;
}

void netio_rx_unhold(struct netio *n, uintptr_t token)
{
    n->ops->rx_unhold(n, token);
}

int netio_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    return n->ops->tx_alloc(n, frame);
}

void netio_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    n->ops->tx_submit(n, frame, now_ns);
}

void netio_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    n->ops->tx_cancel(n, frame);
}

void netio_tx_flush(struct netio *n, uint64_t now_ns)
{
    n->ops->tx_flush(n, now_ns);
}

int netio_fd(const struct netio *n)
{
    return n->fd;
}

int netio_prepare_sleep(struct netio *n)
{
    return n->ops->prepare_sleep(n);
}

void netio_keep_waking(struct netio *n, int on)
{
    if (n->ops->keep_waking)
        n->ops->keep_waking(n, on);
}

uint64_t netio_next_event(const struct netio *n)
{
    return n->ops->next_event ? n->ops->next_event(n) : UINT64_MAX;
}
