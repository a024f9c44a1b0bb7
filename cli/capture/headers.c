/* SPDX-License-Identifier: Apache-2.0 */
/* headers.c - see headers.h. */
#include <arpa/inet.h>
#include <netinet/if_ether.h>
#include <stdio.h>
#include <string.h>

#include "headers.h"

#define ETH_LEN 14u
#define TAG_LEN 4u
#define IP4_LEN 20u
#define IP6_LEN 40u
#define TCP_LEN 20u
#define UDP_LEN 8u
#define EXT_MAX 8u /* extension headers of IPv6 */

/* What is left of a frame. */
struct rest {
    const uint8_t *p;
    uint32_t n;
};

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static bool skip(struct rest *r, uint32_t n)
{
    if (n > r->n)
        return false;
    r->p += n;
    r->n -= n;
    return true;
}

/* len: bytes from the transport header on, by the IP header. */
static void read_transport(struct headers *h, const struct rest *r, uint32_t len)
{
    uint32_t header;

    if (h->protocol == IPPROTO_UDP && r->n >= UDP_LEN) {
        h->has_ports = true;
        h->payload = len > UDP_LEN ? len - UDP_LEN : 0;
    }
    if (h->protocol == IPPROTO_TCP && r->n >= TCP_LEN) {
        h->has_ports = h->has_tcp = true;
        h->seq = get32(r->p + 4);
        h->ack = get32(r->p + 8);
        h->flags = r->p[13];
        h->window = get16(r->p + 14);
        header = (r->p[12] >> 4) * 4u;
        h->payload = len > header ? len - header : 0;
    }
    if (h->has_ports) {
        h->sport = get16(r->p);
        h->dport = get16(r->p + 2);
    }
}

static void read_ip4(struct headers *h, struct rest r)
{
    uint32_t header, total;

    if (r.n < IP4_LEN)
        return;
    h->has_ip = true;
    inet_ntop(AF_INET, r.p + 12, h->src, sizeof h->src);
    inet_ntop(AF_INET, r.p + 16, h->dst, sizeof h->dst);
    h->protocol = r.p[9];
    h->is_fragment = (get16(r.p + 6) & 0x1fff) != 0; /* not the first: it has no ports */
    header = (r.p[0] & 15u) * 4;
    total = get16(r.p + 2);
    if (!h->is_fragment && header >= IP4_LEN && skip(&r, header))
        read_transport(h, &r, total > header ? total - header : 0);
}

/* Skips extension headers of IPv6 up to the transport header. */
static bool skip_extensions(struct headers *h, struct rest *r, uint32_t *len)
{
    unsigned i;

    for (i = 0; i < EXT_MAX; i++) {
        uint32_t size;

        if (h->protocol != IPPROTO_HOPOPTS && h->protocol != IPPROTO_ROUTING &&
            h->protocol != IPPROTO_DSTOPTS && h->protocol != IPPROTO_FRAGMENT)
            return true;
        if (r->n < 8)
            return false;
        size = h->protocol == IPPROTO_FRAGMENT ? 8 : (r->p[1] + 1u) * 8;
        if (h->protocol == IPPROTO_FRAGMENT && (get16(r->p + 2) & 0xfff8) != 0) {
            h->is_fragment = true;
            h->protocol = r->p[0];
            return false;
        }
        h->protocol = r->p[0];
        if (!skip(r, size) || *len < size)
            return false;
        *len -= size;
    }
    return false;
}

static void read_ip6(struct headers *h, struct rest r)
{
    uint32_t len;

    if (r.n < IP6_LEN)
        return;
    h->has_ip = true;
    inet_ntop(AF_INET6, r.p + 8, h->src, sizeof h->src);
    inet_ntop(AF_INET6, r.p + 24, h->dst, sizeof h->dst);
    h->protocol = r.p[6];
    len = get16(r.p + 4);
    (void)skip(&r, IP6_LEN);
    if (skip_extensions(h, &r, &len))
        read_transport(h, &r, len);
}

void headers_read(struct headers *h, const uint8_t *frame, uint32_t n)
{
    struct rest r = {frame, n};

    memset(h, 0, sizeof *h);
    if (n < ETH_LEN)
        return;
    h->ethertype = get16(frame + 12);
    (void)skip(&r, ETH_LEN);
    while ((h->ethertype == ETHERTYPE_VLAN || h->ethertype == 0x88a8) && r.n >= TAG_LEN) {
        h->has_vlan = true;
        h->vlan = get16(r.p) & 0x0fff;
        h->ethertype = get16(r.p + 2);
        (void)skip(&r, TAG_LEN);
    }
    if (h->ethertype == ETHERTYPE_IP)
        read_ip4(h, r);
    else if (h->ethertype == ETHERTYPE_IPV6)
        read_ip6(h, r);
}

void headers_flags(uint8_t flags, char text[12])
{
    static const struct {
        uint8_t bit;
        char letter;
    } letters[] = {{0x02, 'S'}, {0x01, 'F'}, {0x04, 'R'}, {0x08, 'P'},
                   {0x20, 'U'}, {0x40, 'E'}, {0x80, 'W'}, {0x10, '.'}};
    size_t i, n = 0;

    for (i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (flags & letters[i].bit)
            text[n++] = letters[i].letter;
    text[n] = 0;
    if (n == 0)
        snprintf(text, 12, "none");
}
