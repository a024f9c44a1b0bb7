/* SPDX-License-Identifier: Apache-2.0 */
/* bench6.c - see bench6.h. */
#include "bench6.h"

const struct toec_addr own6 = {{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
const struct toec_addr peer6 = {{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
const struct toec_addr far6 = {{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}};
const struct toec_addr prefix6 = {{0x20, 1, 0xd, 0xb8, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
const struct toec_addr router6 = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe}};
const struct toec_addr none6 = {{0}};
const struct toec_addr all_nodes = {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
const uint8_t router_mac[6] = {2, 0, 0, 0, 0, 0xfe};

void bench6_config(struct bench *b, enum toec_ip6_mode mode)
{
    bench_config(b);
    b->cfg.ip6 = mode;
    memcpy(b->cfg.ip6_addr, own6.b, 16);
    b->cfg.ip6_prefix_len = 64;
}

void bench6_init(struct bench *b, enum toec_ip6_mode mode)
{
    bench6_config(b, mode);
    bench_start(b);
    bench_pass(b, 4 * SEC);
    bench_forget_sent(b);
}

static uint32_t pseudo(const uint8_t *ip, const uint8_t *l4, uint32_t len)
{
    static uint8_t m[40 + 65536];

    memcpy(m, ip + 8, 32);
    poke32(m + 32, len);
    poke32(m + 36, 58);
    memcpy(m + 40, l4, len);
    return naive_sum(m, 40 + len);
}

uint32_t make_ip6(uint8_t *f, const struct ip6_spec *spec, const void *payload, uint32_t len)
{
    if (spec->dst->b[0] == 0xff) {
        f[0] = f[1] = 0x33;
        memcpy(f + 2, spec->dst->b + 12, 4);
    } else {
        memcpy(f, own_mac, 6);
    }
    memcpy(f + 6, spec->src_mac ? spec->src_mac : peer_mac, 6);
    poke16(f + 12, 0x86dd);
    poke32(f + 14, 0x60000000);
    poke16(f + 18, len);
    f[20] = spec->next;
    f[21] = spec->hops ? spec->hops : 64;
    memcpy(f + 22, spec->src->b, 16);
    memcpy(f + 38, spec->dst->b, 16);
    if (len)
        memmove(f + 54, payload, len);
    return 54 + len;
}

uint32_t make_icmp6(uint8_t *p, const struct ip6_spec *spec, int type, int code, uint32_t rest,
                    const void *data, uint32_t len)
{
    uint8_t ip[40];

    p[0] = (uint8_t)type;
    p[1] = (uint8_t)code;
    poke16(p + 2, 0);
    poke32(p + 4, rest);
    if (len)
        memcpy(p + 8, data, len);
    memcpy(ip + 8, spec->src->b, 16);
    memcpy(ip + 24, spec->dst->b, 16);
    poke16(p + 2, pseudo(ip, p, 8 + len));
    return 8 + len;
}

void input_icmp6(struct bench *b, const struct ip6_spec *spec, int type, int code, uint32_t rest,
                 const void *data, uint32_t len)
{
    static uint8_t f[54 + 65536], p[65536];
    struct ip6_spec s = *spec;

    s.next = 58;
    bench_input(b, f, make_ip6(f, &s, p, make_icmp6(p, &s, type, code, rest, data, len)));
}

void input_nd(struct bench *b, const struct ip6_spec *spec, int type, uint32_t rest,
              const struct toec_addr *target, const void *options, uint32_t len)
{
    struct ip6_spec s = *spec;
    uint8_t data[512];

    if (s.hops == 0)
        s.hops = 255;
    memcpy(data, target->b, 16);
    if (len)
        memcpy(data + 16, options, len);
    input_icmp6(b, &s, type, 0, rest, data, 16 + len);
}

void mac_option(uint8_t opt[8], int type, const uint8_t *mac)
{
    opt[0] = (uint8_t)type;
    opt[1] = 1;
    memcpy(opt + 2, mac, 6);
}

void bench6_learn(struct bench *b, const struct toec_addr *addr, const uint8_t *mac)
{
    struct ip6_spec s = {addr, &own6, 58, 255, mac};
    uint8_t opt[8];

    mac_option(opt, 1, mac);
    input_nd(b, &s, 135, 0, &own6, opt, 8);
    bench_forget_sent(b);
}

int icmp6_sum_ok(const uint8_t *frame)
{
    return pseudo(frame + 14, frame + 54, peek16(frame + 18)) == 0;
}

const uint8_t *expect_icmp6(struct bench *b, int type, int code, const struct toec_addr *src,
                            const struct toec_addr *dst, uint32_t *len)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x86dd);
    assert_int_equal(f->data[14] >> 4, 6);
    assert_int_equal(f->data[20], 58);
    assert_int_equal(f->len, 54 + peek16(f->data + 18));
    assert_memory_equal(f->data + 6, own_mac, 6);
    if (src)
        assert_memory_equal(f->data + 22, src->b, 16);
    if (dst)
        assert_memory_equal(f->data + 38, dst->b, 16);
    assert_int_equal(f->data[54], type);
    assert_int_equal(f->data[55], code);
    assert_true(icmp6_sum_ok(f->data));
    if (len)
        *len = f->len - 54;
    return f->data + 54;
}
