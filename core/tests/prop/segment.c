/* SPDX-License-Identifier: Apache-2.0 */
/* segment.c - a frame of the wire as a segment (prop.h). */
#include <stdio.h>
#include <string.h>

#include "prop.h"

static int option(struct seg *g, const uint8_t *o, unsigned left)
{
    unsigned len = left > 1 ? o[1] : 0, i;

    if (len < 2 || len > left)
        return -1;
    switch (o[0]) {
    case 2:
        g->opt.mss = (uint16_t)get16(o + 2);
        g->opt.has_mss = 1;
        return len == 4 ? 4 : -1;
    case 3:
        g->opt.ws = o[2];
        return len == 3 ? 3 : -1;
    case 4:
        g->opt.sack = 1;
        return len == 2 ? 2 : -1;
    case 5:
        if (len < 10 || len > 34 || (len - 2) % 8)
            return -1;
        g->n_sack = (len - 2) / 8;
        for (i = 0; i < g->n_sack; i++) {
            g->sack[i].start = get32(o + 2 + 8 * i);
            g->sack[i].end = get32(o + 6 + 8 * i);
        }
        return (int)len;
    case 8:
        g->has_ts = 1;
        g->opt.ts = 1;
        g->tsval = get32(o + 2);
        g->tsecr = get32(o + 6);
        return len == 10 ? 10 : -1;
    default:
        g->fault = "an option that was not negotiated";
        return (int)len;
    }
}

static void options(struct seg *g, const uint8_t *o, unsigned n)
{
    unsigned i = 0;

    while (i < n && o[i] != 0) {
        int r = o[i] == 1 ? 1 : option(g, o + i, n - i);

        if (r < 0) {
            g->fault = "options malformed";
            return;
        }
        i += (unsigned)r;
    }
    for (; i < n; i++) {
        if (o[i])
            g->fault = "bytes after the end of options";
    }
}

int seg_parse(const uint8_t *frame, uint32_t len, struct seg *g)
{
    const uint8_t *t;
    uint32_t total;

    memset(g, 0, sizeof(*g));
    g->opt.ws = -1;
    t = tcp_of(frame, len, &total);
    if (!t || sum16(t, total, pseudo_sum(frame + 14, 6, total)) != 0xffff)
        return 0;
    g->hlen = (t[12] >> 4) * 4u;
    if (g->hlen < 20 || g->hlen > total)
        return 0;
    g->sport = (uint16_t)get16(t);
    g->dport = (uint16_t)get16(t + 2);
    g->seq = g->opt.seq = get32(t + 4);
    g->ack = get32(t + 8);
    g->flags = t[13];
    g->wnd = get16(t + 14);
    g->urg = get16(t + 18);
    g->len = total - g->hlen;
    g->payload = t + g->hlen;
    options(g, t + 20, g->hlen - 20);
    return 1;
}

void seg_print(const struct world *w, const char *way, unsigned host, const struct seg *g)
{
    unsigned i;

    printf("%12.6f   %s %u %u>%u %s%s%s%s%s%s%s seq %u len %u", (double)w->now / 1e9, way, host,
           g->sport, g->dport, g->flags & F_SYN ? "S" : "", g->flags & F_FIN ? "F" : "",
           g->flags & F_RST ? "R" : "", g->flags & F_PSH ? "P" : "", g->flags & 0x40 ? "E" : "",
           g->flags & 0x80 ? "W" : "", g->flags & F_ACK ? "." : "", g->seq, g->len);
    if (g->flags & F_ACK)
        printf(" ack %u", g->ack);
    printf(" win %u", g->wnd);
    if (g->opt.has_mss)
        printf(" mss %u", g->opt.mss);
    if (g->opt.ws >= 0)
        printf(" wscale %d", g->opt.ws);
    if (g->opt.sack)
        printf(" sackOK");
    if (g->has_ts)
        printf(" TS %u ecr %u", g->tsval, g->tsecr);
    for (i = 0; i < g->n_sack; i++)
        printf(" sack %u:%u", g->sack[i].start, g->sack[i].end);
    putchar('\n');
}
