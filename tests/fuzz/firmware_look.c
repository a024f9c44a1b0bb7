/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware_look.c - the model's description of a received frame, as hyb_look.sv makes it
 * (gateware/src/hyb/tb/test_look.py compares that with a model of its own).
 */
#include "firmware.h"
#include "toe_core.h"

#define STAMPS_BEGIN 0x0101080au /* NOP, NOP, kind, length */

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

/* Returns not 0 when the checksum of these bytes and of the rest of a pseudo header is right. */
static int right(const uint8_t *p, uint32_t n, uint32_t tcp_len)
{
    uint8_t rest[4] = {0, 6, (uint8_t)(tcp_len >> 8), (uint8_t)tcp_len};

    return toec_sum_add(toec_sum(p, n), toec_sum(rest, sizeof rest), 0) == 0xffff;
}

/* Returns where the segment begins, 0: there is none that was verified. */
static uint32_t verify(const uint8_t *f, uint32_t n, struct host_look *l, uint32_t *len)
{
    if (n >= 34 && get16(f + 12) == 0x0800) {
        *len = get16(f + 16) - 20;
        if (f[14] != 0x45 || get16(f + 16) < 20 || 34 + *len > n || toec_sum(f + 14, 20) != 0xffff)
            return 0;
        l->facts = HOST_IP_SUM;
        return f[23] == 6 && !(get16(f + 20) & 0x3fff) && *len >= 20 &&
                       right(f + 26, 8 + *len, *len)
                   ? 34
                   : 0;
    }
    if (n < 54 || get16(f + 12) != 0x86dd)
        return 0;
    *len = get16(f + 18);
    l->facts = HOST_V6;
    return f[14] >> 4 == 6 && f[20] == 6 && 54 + *len <= n && *len >= 20 &&
                   right(f + 22, 32 + *len, *len)
               ? 54
               : 0;
}

static uint32_t hash(const uint8_t *peer, uint32_t n, uint32_t ports)
{
    uint32_t mixed = (ports ^ ports >> 16) & 0xffff, i;

    for (i = 0; i < n; i += 2)
        mixed ^= get16(peer + i);
    return (mixed ^ mixed >> 8) & 0xff;
}

/* Fills the description of a frame. */
static void look(const uint8_t *f, uint32_t n, struct host_look *l)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
    const uint8_t *h;
    uint32_t len = 0, at, hlen, v6;

    memset(l, 0, sizeof *l);
    at = verify(f, n, l, &len);
    if (!at)
        return;
    h = f + at;
    hlen = (uint32_t)(h[12] >> 4) * 4;
    v6 = at == 54;
    l->facts |= HOST_SUM;
    if (hlen == 32 && len >= 32 && get32(h + 20) == STAMPS_BEGIN)
        l->facts |= HOST_STAMPS;
    if (memcmp(f, mac, 6) || (hlen != 20 && !(l->facts & HOST_STAMPS)) || hlen > len ||
        (h[12] & 15) || (h[13] & 0x36) != 0x10)
        return;
    l->ports = get16(h + 2) << 16 | get16(h);
    l->facts |= HOST_USUAL | (v6 ? get16(f + 14) >> 4 & 0xff : f[15]) << 8 |
                hash(v6 ? f + 22 : f + 26, v6 ? 16 : 4, l->ports) << 16;
    l->fields = get16(h + 14) << 16 | h[13];
    l->lengths = (at + hlen) | (len - hlen) << 8 | n << 20;
    l->seq = get32(h + 4);
    l->ack = get32(h + 8);
    if (l->facts & HOST_STAMPS) {
        l->ts_val = get32(h + 24);
        l->ts_ecr = get32(h + 28);
    }
}

const volatile struct host_look *host_look(unsigned n)
{
    static struct host_look of[FRAMES];
    uint32_t at = (units.tail + n) % FRAMES;

    FUZZ_CHECK(n < units.head - units.tail);
    look(units.frames[at], units.lengths[at], &of[at]);
    return &of[at];
}
