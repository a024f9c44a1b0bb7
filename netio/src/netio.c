/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio.c - names of back ends, and the calls passed on to the one that was opened.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend.h"

static const struct {
    const char *name;
    netio_open_fn *open;
} backends[] = {
    {"af_xdp", af_xdp_open},
    {"tap", tap_open},
};

void netio_err_set(const struct netio_err *err, const char *format, ...)
{
    va_list args;

    if (!err->text || !err->size)
        return;
    va_start(args, format);
    vsnprintf(err->text, err->size, format, args);
    va_end(args);
}

struct netio *netio_open(const char *spec, const struct netio_config *cfg, char *err,
                         size_t err_size)
{
    const struct netio_err e = {err, err_size};
    size_t name_len = strcspn(spec, ":(");
    size_t i;

    for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        if (strlen(backends[i].name) != name_len || memcmp(backends[i].name, spec, name_len) != 0)
            continue;
        if (spec[name_len] != ':') {
            netio_err_set(&e, "network interface '%s': '%s' must be followed by ':'", spec,
                          backends[i].name);
            return NULL;
        }
        return backends[i].open(spec + name_len + 1, cfg, &e);
    }
    netio_err_set(&e,
                  "network interface '%s': unknown kind '%.*s': write af_xdp:IFNAME or tap:IFNAME",
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

unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    return n->ops->rx(n, frames, max, now_ns);
}

void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    n->ops->rx_release(n, frames, count);
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

uint64_t netio_next_event(const struct netio *n)
{
    return n->ops->next_event ? n->ops->next_event(n) : UINT64_MAX;
}
