/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ao_vectors.c - TCP-AO against the packets of RFC 9235: traffic key and MAC of each, and
 * some of them sent to a stack. R5926-01, R5926-02, R5926-03, R5926-04; R5925-01, R5925-02,
 * R5925-07.
 */
#include "tcpsim.h"
#include "tcpsim_parts.h"

#include "tcp/tcp.h"
#include "tcp/tcp_ao_seg.h"
#include "tcp/tcp_open.h"

/* The segments of the RFC's BGP speakers. */
#define OPEN(as, router)                                                                           \
    "ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff 00 43 01 04" as "00 b4" router                \
    "26 02 06 01 04 00 01 00 01 02 02 80 00 02 02 02 00 02 02 42 00 02 06 41 04 00 00" as          \
    "02 08 40 06 00 64 00 01 01 00"
#define SENT4     OPEN("da bf", "0a 0b 0c 0d")
#define RECEIVED4 OPEN("da c0", "ac 1b 1c 1d")
#define SENT6     OPEN("fd e8", "01 01 01 79")
#define RECEIVED6 OPEN("fd e8", "01 01 01 7a")
#define FROM6     "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
#define TO6       "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"

static const struct vector {
    const char *section;
    enum toec_ao_alg alg;
    int no_options;
    uint32_t src_isn, dst_isn;
    const char *packet, *traffic;
} vectors[] = {
    {"4.1.1", TOEC_AO_HMAC_SHA1, 0, 0xfbfbab5a, 0,
     "45 e0 00 4c dd 0f 40 00 ff 06 bf 6b 0a 0b 0c 0d ac 1b 1c 1d e9 d7 00 b3 fb fb ab 5a"
     "00 00 00 00 e0 02 ff ff ca c4 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 00 15 5a b7"
     "00 00 00 00 1d 10 3d 54 2e e4 37 c6 f8 ed e6 d7 c4 d6 02 e7",
     "6d 63 ef 1b 02 fe 15 09 d4 b1 40 27 07 fd 7b 04 16 ab b7 4f"},
    {"4.1.2", TOEC_AO_HMAC_SHA1, 0, 0x11c14261, 0xfbfbab5a,
     "45 e0 00 4c 65 06 40 00 ff 06 37 75 ac 1b 1c 1d 0a 0b 0c 0d 00 b3 e9 d7 11 c1 42 61"
     "fb fb ab 5b e0 12 ff ff 37 76 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 84 a5 0b eb"
     "00 15 5a b7 1d 10 54 3d ee ab 0f e2 4c 30 10 81 51 16 b3 be",
     "d9 e2 17 e4 83 4a 80 ca 2f 3f d8 de 2e 41 b8 e6 79 7f ea 96"},
    {"4.1.3", TOEC_AO_HMAC_SHA1, 0, 0xfbfbab5a, 0x11c14261,
     "45 e0 00 87 36 a1 40 00 ff 06 65 9f 0a 0b 0c 0d ac 1b 1c 1d e9 d7 00 b3 fb fb ab 5b"
     "11 c1 42 62 c0 18 01 04 a1 62 00 00 01 01 08 0a 00 15 5a c1 84 a5 0b eb 1d 10 3d 54"
     "70 64 cf 99 8c c6 c3 15 c2 c2 e2 bf" SENT4,
     "d2 e5 9c 65 ff c7 b1 a3 93 47 65 64 63 b7 0e dc 24 a1 3d 71"},
    {"4.1.4", TOEC_AO_HMAC_SHA1, 0, 0x11c14261, 0xfbfbab5a,
     "45 e0 00 87 1f a9 40 00 ff 06 7c 97 ac 1b 1c 1d 0a 0b 0c 0d 00 b3 e9 d7 11 c1 42 62"
     "fb fb ab 9e c0 18 01 00 40 0c 00 00 01 01 08 0a 84 a5 0b f5 00 15 5a c1 1d 10 54 3d"
     "a6 3f 0e cb bb 2e 63 5c 95 4d ea c7" RECEIVED4,
     "d9 e2 17 e4 83 4a 80 ca 2f 3f d8 de 2e 41 b8 e6 79 7f ea 96"},
    {"4.2.1", TOEC_AO_HMAC_SHA1, 1, 0xcb0efbee, 0,
     "45 e0 00 4c 53 99 40 00 ff 06 48 e2 0a 0b 0c 0d ac 1b 1c 1d ff 12 00 b3 cb 0e fb ee"
     "00 00 00 00 e0 02 ff ff 54 1f 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 00 02 4c ce"
     "00 00 00 00 1d 10 3d 54 80 af 3c fe b8 53 68 93 7b 8f 9e c2",
     "30 ea a1 56 0c f0 be 57 da b5 c0 45 22 9f b1 0a 42 3c d7 ea"},
    {"4.2.2", TOEC_AO_HMAC_SHA1, 1, 0xacd5b5e1, 0xcb0efbee,
     "45 e0 00 4c 32 84 40 00 ff 06 69 f7 ac 1b 1c 1d 0a 0b 0c 0d 00 b3 ff 12 ac d5 b5 e1"
     "cb 0e fb ef e0 12 ff ff 38 8e 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 57 67 72 f3"
     "00 02 4c ce 1d 10 54 3d 09 30 6f 9a ce a6 3a 8c 68 cb 9a 70",
     "b5 b2 89 6b b3 66 4e 81 76 b0 ed c6 e7 99 52 41 01 a8 30 7f"},
    {"4.2.3", TOEC_AO_HMAC_SHA1, 1, 0xcb0efbee, 0xacd5b5e1,
     "45 e0 00 87 a8 f5 40 00 ff 06 f3 4a 0a 0b 0c 0d ac 1b 1c 1d ff 12 00 b3 cb 0e fb ef"
     "ac d5 b5 e2 c0 18 01 04 6c 45 00 00 01 01 08 0a 00 02 4c ce 57 67 72 f3 1d 10 3d 54"
     "71 06 08 cc 69 6c 03 a2 71 c9 3a a5" SENT4,
     "f3 db 17 93 d7 91 0e cd 80 6c 34 f1 55 ea 1f 00 34 59 53 e3"},
    {"4.2.4", TOEC_AO_HMAC_SHA1, 1, 0xacd5b5e1, 0xcb0efbee,
     "45 e0 00 87 54 37 40 00 ff 06 48 09 ac 1b 1c 1d 0a 0b 0c 0d 00 b3 ff 12 ac d5 b5 e2"
     "cb 0e fc 32 c0 18 01 00 46 b6 00 00 01 01 08 0a 57 67 72 f3 00 02 4c ce 1d 10 54 3d"
     "97 76 6e 48 ac 26 2d e9 ae 61 b4 f9" RECEIVED4,
     "b5 b2 89 6b b3 66 4e 81 76 b0 ed c6 e7 99 52 41 01 a8 30 7f"},
    {"5.1.1", TOEC_AO_AES_CMAC, 0, 0x787a1ddf, 0,
     "45 e0 00 4c 7b 9f 40 00 ff 06 20 dc 0a 0b 0c 0d ac 1b 1c 1d c4 fa 00 b3 78 7a 1d df"
     "00 00 00 00 e0 02 ff ff 5a 0f 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 00 01 7e d0"
     "00 00 00 00 1d 10 3d 54 e4 77 e9 9c 80 40 76 54 98 e5 50 91",
     "f5 b8 b3 d5 f3 4f db b6 eb 8d 4a b9 66 0e 60 e3"},
    {"5.1.2", TOEC_AO_AES_CMAC, 0, 0xfadd6de9, 0x787a1ddf,
     "45 e0 00 4c 4b ad 40 00 ff 06 50 ce ac 1b 1c 1d 0a 0b 0c 0d 00 b3 c4 fa fa dd 6d e9"
     "78 7a 1d e0 e0 12 ff ff f3 f2 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 93 f4 e9 e8"
     "00 01 7e d0 1d 10 54 3d d6 ad a7 bc 4c dd 53 6d 17 69 db 5f",
     "4b c7 57 1a 48 6f 32 64 bb d8 88 47 40 66 b4 b1"},
    {"5.1.3", TOEC_AO_AES_CMAC, 0, 0x787a1ddf, 0xfadd6de9,
     "45 e0 00 87 fb 4f 40 00 ff 06 a0 f0 0a 0b 0c 0d ac 1b 1c 1d c4 fa 00 b3 78 7a 1d e0"
     "fa dd 6d ea c0 18 01 04 95 05 00 00 01 01 08 0a 00 01 7e d0 93 f4 e9 e8 1d 10 3d 54"
     "77 41 27 42 fa 4d c4 33 ef f0 97 3e" SENT4,
     "8c 8a e0 e8 37 1e c5 cb b9 7e a7 9d 90 41 83 91"},
    {"5.1.4", TOEC_AO_AES_CMAC, 0, 0xfadd6de9, 0x787a1ddf,
     "45 e0 00 87 b9 14 40 00 ff 06 e3 2b ac 1b 1c 1d 0a 0b 0c 0d 00 b3 c4 fa fa dd 6d ea"
     "78 7a 1e 23 c0 18 01 00 e7 db 00 00 01 01 08 0a 93 f4 e9 e8 00 01 7e d0 1d 10 54 3d"
     "f6 d9 65 a7 83 82 a7 48 45 f7 2d ac" RECEIVED4,
     "4b c7 57 1a 48 6f 32 64 bb d8 88 47 40 66 b4 b1"},
    {"5.2.1", TOEC_AO_AES_CMAC, 1, 0x389bed71, 0,
     "45 e0 00 4c f2 2e 40 00 ff 06 aa 4c 0a 0b 0c 0d ac 1b 1c 1d da 1c 00 b3 38 9b ed 71"
     "00 00 00 00 e0 02 ff ff 70 bf 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a 00 01 85 e1"
     "00 00 00 00 1d 10 3d 54 c4 4e 60 cb 31 f7 c0 b1 de 3d 27 49",
     "2c db ae 13 92 c4 94 49 fa 92 c4 50 97 35 d5 0e"},
    {"5.2.2", TOEC_AO_AES_CMAC, 1, 0xd3844a6f, 0x389bed71,
     "45 e0 00 4c 6c c0 40 00 ff 06 2f bb ac 1b 1c 1d 0a 0b 0c 0d 00 b3 da 1c d3 84 4a 6f"
     "38 9b ed 72 e0 12 ff ff e4 45 00 00 02 04 05 b4 01 03 03 08 04 02 08 0a ce 45 98 38"
     "00 01 85 e1 1d 10 54 3d 3a 6a bb 20 7e 49 b1 be 71 36 db 90",
     "3c e6 7a 55 18 69 50 6b 63 47 b6 33 c5 0a 62 4a"},
    {"5.2.3", TOEC_AO_AES_CMAC, 1, 0x389bed71, 0xd3844a6f,
     "45 e0 00 87 ee 91 40 00 ff 06 ad ae 0a 0b 0c 0d ac 1b 1c 1d da 1c 00 b3 38 9b ed 72"
     "d3 84 4a 70 c0 18 01 04 88 51 00 00 01 01 08 0a 00 01 85 e1 ce 45 98 38 1d 10 3d 54"
     "75 85 e9 e9 d5 c3 ec 85 7b 96 f8 37" SENT4,
     "03 5b c4 00 a3 41 ff e5 95 f5 9f 58 00 50 06 ca"},
    {"5.2.4", TOEC_AO_AES_CMAC, 1, 0xd3844a6f, 0x389bed71,
     "45 e0 00 87 6a 21 40 00 ff 06 32 1f ac 1b 1c 1d 0a 0b 0c 0d 00 b3 da 1c d3 84 4a 70"
     "38 9b ed 72 c0 18 01 00 04 49 00 00 01 01 08 0a ce 45 98 38 00 01 85 e1 1d 10 54 3d"
     "5c 04 0f d9 23 33 04 76 5c 09 82 f4" RECEIVED4,
     "3c e6 7a 55 18 69 50 6b 63 47 b6 33 c5 0a 62 4a"},
    {"6.1.1", TOEC_AO_HMAC_SHA1, 0, 0x176a833f, 0,
     "6e 08 91 dc 00 38 06 40" FROM6 TO6 "f7 e4 00 b3 17 6a 83 3f 00 00 00 00 e0 02 ff ff"
     "47 21 00 00 02 04 05 a0 01 03 03 08 04 02 08 0a 00 41 d0 87 00 00 00 00 1d 10 3d 54"
     "90 33 ec 3d 73 34 b6 4c 5e dd 03 9f",
     "62 5e c0 9d 57 58 36 ed c9 b6 42 84 18 bb f0 69 89 a3 61 bb"},
    {"6.1.2", TOEC_AO_HMAC_SHA1, 0, 0x3f51994b, 0x176a833f,
     "6e 01 00 9e 00 38 06 40" TO6 FROM6 "00 b3 f7 e4 3f 51 99 4b 17 6a 83 40 e0 12 ff ff"
     "bf ec 00 00 02 04 05 a0 01 03 03 08 04 02 08 0a bd 33 12 9b 00 41 d0 87 1d 10 54 3d"
     "f1 cb a3 46 c3 52 61 63 f7 1f 1f 55",
     "e4 a3 7a da 2a 0a fc a8 71 14 34 91 3f e1 38 c7 71 eb cb 4a"},
    {"6.1.3", TOEC_AO_HMAC_SHA1, 0, 0x176a833f, 0x3f51994b,
     "6e 08 91 dc 00 73 06 40" FROM6 TO6 "f7 e4 00 b3 17 6a 83 40 3f 51 99 4c c0 18 01 00"
     "32 9c 00 00 01 01 08 0a 00 41 d0 91 bd 33 12 9b 1d 10 3d 54 bf 08 05 fe b4 ac 7b 16"
     "3d 6f cd f2" SENT6,
     "1e d8 29 75 f4 ea 44 4c 61 58 0c 5b d9 0d bd 61 bb c9 1b 7e"},
    {"6.1.4", TOEC_AO_HMAC_SHA1, 0, 0x3f51994b, 0x176a833f,
     "6e 01 00 9e 00 73 06 40" TO6 FROM6 "00 b3 f7 e4 3f 51 99 4c 17 6a 83 83 c0 18 01 00"
     "ee 6e 00 00 01 01 08 0a bd 33 12 a5 00 41 d0 91 1d 10 54 3d 6c 48 12 5c 11 33 5b ab"
     "9a 07 a7 97" RECEIVED6,
     "e4 a3 7a da 2a 0a fc a8 71 14 34 91 3f e1 38 c7 71 eb cb 4a"},
    {"6.2.1", TOEC_AO_HMAC_SHA1, 1, 0x020c1e69, 0,
     "6e 07 8f cd 00 38 06 40" FROM6 TO6 "c6 cd 00 b3 02 0c 1e 69 00 00 00 00 e0 02 ff ff"
     "a4 1a 00 00 02 04 05 a0 01 03 03 08 04 02 08 0a 00 9d b9 5b 00 00 00 00 1d 10 3d 54"
     "88 56 98 b0 53 0e d4 d5 a1 5f 83 46",
     "31 a3 fa f6 9e ff ae 52 93 1b 7f 84 54 67 31 5c 27 0a 4e dc"},
    {"6.2.2", TOEC_AO_HMAC_SHA1, 1, 0xeba3734d, 0x020c1e69,
     "6e 0a 7e 1f 00 38 06 40" TO6 FROM6 "00 b3 c6 cd eb a3 73 4d 02 0c 1e 6a e0 12 ff ff"
     "77 4d 00 00 02 04 05 a0 01 03 03 08 04 02 08 0a 5e c9 9b 70 00 9d b9 5b 1d 10 54 3d"
     "3c 54 6b ad 97 43 f1 2d f8 b8 01 0d",
     "40 51 08 94 7f 99 65 75 e7 bd bc 26 d4 02 16 a2 c7 fa 91 bd"},
    {"6.2.3", TOEC_AO_HMAC_SHA1, 1, 0x020c1e69, 0xeba3734d,
     "6e 07 8f cd 00 73 06 40" FROM6 TO6 "c6 cd 00 b3 02 0c 1e 6a eb a3 73 4e c0 18 01 00"
     "83 e6 00 00 01 01 08 0a 00 9d b9 65 5e c9 9b 70 1d 10 3d 54 48 bd 09 3b 19 24 e0 01"
     "19 2f 5b f0" SENT6,
     "b3 4e ed 6a 93 96 a6 69 f1 c4 f4 f5 76 18 f3 65 6f 52 c7 ab"},
    {"6.2.4", TOEC_AO_HMAC_SHA1, 1, 0xeba3734d, 0x020c1e69,
     "6e 0a 7e 1f 00 73 06 40" TO6 FROM6 "00 b3 c6 cd eb a3 73 4e 02 0c 1e ad c0 18 01 00"
     "71 6a 00 00 01 01 08 0a 5e c9 9b 7a 00 9d b9 65 1d 10 54 3d 55 9a 81 94 45 b4 fd e9"
     "8d 9e 13 17" RECEIVED6,
     "40 51 08 94 7f 99 65 75 e7 bd bc 26 d4 02 16 a2 c7 fa 91 bd"},
    {"7.1.2", TOEC_AO_AES_CMAC, 0, 0xa6744ecb, 0x193cccec,
     "6e 06 15 20 00 38 06 40" TO6 FROM6 "00 b3 f8 5a a6 74 4e cb 19 3c cc ed e0 12 ff ff"
     "ea bb 00 00 02 04 05 a0 01 03 03 08 04 02 08 0a 71 da ab c8 13 e4 ab 99 1d 10 54 3d"
     "dc 28 43 a8 4e 78 a6 bc fd c5 ed 80",
     "cf 1b 1e 22 5e 06 a6 36 16 76 4a 06 7b 46 f4 b1"},
    {"7.1.4", TOEC_AO_AES_CMAC, 0, 0xa6744ecb, 0x193cccec,
     "6e 06 15 20 00 73 06 40" TO6 FROM6 "00 b3 f8 5a a6 74 4e cc 19 3c cd 30 c0 18 01 00"
     "52 f4 00 00 01 01 08 0a 71 da ab d3 13 e4 ab a3 1d 10 54 3d c1 06 9b 7d fd 3d 69 3a"
     "6d f3 f2 89" RECEIVED6,
     "cf 1b 1e 22 5e 06 a6 36 16 76 4a 06 7b 46 f4 b1"},
};

static uint32_t unhex(const char *text, uint8_t *out)
{
    static const char set[] = "0123456789abcdef";
    unsigned digits = 0;

    for (; *text; text++) {
        if (*text == ' ')
            continue;
        out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | (strchr(set, *text) - set));
        digits++;
    }
    return digits / 2;
}

static void addr_at(struct toec_addr *a, const uint8_t *p, int four)
{
    memset(a, 0, sizeof(*a));
    if (four) {
        a->b[10] = a->b[11] = 0xff;
        memcpy(a->b + 12, p, 4);
    } else {
        memcpy(a->b, p, 16);
    }
}

static void check(const struct vector *v)
{
    uint8_t packet[256], want[32], traffic[TOEC_MAC_MOST], mac[TOEC_MAC_MOST];
    uint32_t n = unhex(v->packet, packet), ip = packet[0] >> 4 == 4 ? 20 : 40, hlen, at;
    const uint8_t *h = packet + ip;
    struct toec_addr src, dst;
    struct toec_ao_key k;
    struct toec_tuple id;
    struct toec_mac m;

    addr_at(&src, packet + (ip == 20 ? 12 : 8), ip == 20);
    addr_at(&dst, packet + (ip == 20 ? 16 : 24), ip == 20);
    memset(&k, 0, sizeof(k));
    k.alg = (uint8_t)v->alg;
    k.no_options = (uint8_t)v->no_options;
    k.len = 10;
    memcpy(k.secret, "testvector", 10);
    id.local = &src;
    id.remote = &dst;
    id.local_port = (toec_u16)get16(h);
    id.remote_port = (toec_u16)get16(h + 2);
    toec_ao_traffic_key(&k, &id, v->src_isn, v->dst_isn, traffic);
    assert_memory_equal(traffic, want, unhex(v->traffic, want));
    hlen = (h[12] >> 4) * 4u;
    at = hlen - TOEC_AO_LEN; /* they are the last option there */
    assert_int_equal(h[at], 29);
    toec_ao_cover(&m, &k, traffic, &src, &dst, h, at, n - ip, 0);
    toec_ao_feed(&m, h + hlen, n - ip - hlen);
    toec_mac_end(&m, mac);
    if (memcmp(mac, h + at + 4, TOEC_AO_MAC) != 0)
        fail_msg("section %s: another MAC", v->section);
}

static void test_packets(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        check(&vectors[i]);
}

/* ---- to a stack, as their server ---- */

/* Checksums of the RFC's packets are not those of TCP. */
static void put_packet(struct sim *s, const char *text)
{
    struct toec_packet p;
    uint8_t f[14 + 256];

    memset(f, 0, sizeof(f));
    f[0] = f[6] = 2;
    f[5] = 1;
    f[11] = 2;
    f[12] = 8;
    memset(&p, 0, sizeof(p));
    p.data = f;
    p.len = p.head_len = 14 + unhex(text, f + 14);
    p.flags = TOEC_RX_L4_CSUM_OK;
    toec_input(s->host[0].stack, &p, s->now);
}

/* SYN and data of section `first`, to a listener that has the key; the ISN of the answer is set. */
static void serve(const struct vector *v)
{
    struct toec_ao_mkt k;
    struct toec_tcb *t;
    struct sim s;
    uint32_t id;

    craft_init(&s);
    put32(s.host[0].cfg.ip, 0xac1b1c1d);
    put32(s.host[0].cfg.gateway, 0xac1b1c01);
    s.host[0].cfg.max_ao_keys = 4;
    s.host[0].cfg.ao = &sim_ao;
    sim_start(&s);
    craft_pass(&s, 10 * SEC);
    sim_listen(&s, 0, 179, 0, &id);
    memset(&k, 0, sizeof(k));
    addr_at(&k.remote, (const uint8_t *)"\x0a\x0b\x0c\x0d", 1);
    k.prefix = 24;
    k.send_id = 84;
    k.recv_id = 61;
    k.alg = v[0].alg;
    k.flags = v[0].no_options ? TOEC_AO_NO_OPTIONS : 0;
    k.secret = (const uint8_t *)"testvector";
    k.secret_len = 10;
    assert_int_equal(toec_listen_ao_add(s.host[0].stack, id, &k), 0);
    put_packet(&s, v[0].packet);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_ao_good), 1);
    t = toec_pool_at(&s.host[0].stack->tcp->flows, 0);
    assert_int_equal(t->state, TOEC_SYN_RECEIVED);
    toec_take_iss(t, v[1].src_isn);
    t->snd_max = t->snd_nxt = t->iss + 1;
    toec_ao_derive(t, toec_ao_of(s.host[0].stack, t));
    put_packet(&s, v[2].packet);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_ao_good), 2);
    assert_int_equal(t->state, TOEC_ESTABLISHED);
    assert_int_equal(s.host[0].conns->received, 67);
    sim_stop(&s);
}

static void test_server(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 16; i += 4)
        serve(&vectors[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packets),
                                       cmocka_unit_test(test_server)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
