/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_mac.c - the MACs of TCP-AO against the test vectors of their standards: SHA-1 (RFC
 * 3174 7.3), HMAC-SHA-1 (RFC 2202 3), AES-128 (FIPS 197 appendix B), AES-CMAC (RFC 4493 4).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mac.h"

static unsigned unhex(const char *text, uint8_t *out)
{
    unsigned n = 0, digits = 0;

    for (; *text; text++) {
        static const char set[] = "0123456789abcdef";
        const char *at = strchr(set, *text);

        if (*text == ' ')
            continue;
        assert_non_null(at);
        if (digits++ % 2 == 0)
            out[n] = (uint8_t)((at - set) << 4);
        else
            out[n++] |= (uint8_t)(at - set);
    }
    return n;
}

static void is(const uint8_t *got, const char *want)
{
    uint8_t bytes[64];
    unsigned n = unhex(want, bytes);

    assert_memory_equal(got, bytes, n);
}

/* Checks a MAC with the data fed in pieces of every size: the result does not depend on them. */
static void code(enum toec_ao_alg alg, const uint8_t *key, unsigned key_len, const void *data,
                 unsigned n, const char *want)
{
    unsigned step, at;

    for (step = 1; step <= n + 1; step++) {
        uint8_t out[TOEC_MAC_MOST];
        struct toec_mac m;

        toec_mac_start(&m, alg, key, key_len);
        for (at = 0; at < n; at += step)
            toec_ao_feed(&m, (const uint8_t *)data + at, step < n - at ? step : n - at);
        toec_mac_end(&m, out);
        is(out, want);
    }
}

static void sha1(const char *data, unsigned times, const char *want)
{
    uint8_t out[TOEC_SHA1_LEN];
    struct toec_sha1 c;

    toec_sha1_start(&c);
    while (times--)
        toec_sha1_add(&c, (const uint8_t *)data, (unsigned)strlen(data));
    toec_sha1_end(&c, out);
    is(out, want);
}

static void test_sha1(void **state)
{
    (void)state;
    sha1("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d");
    sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    sha1("a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    sha1("0123456701234567012345670123456701234567012345670123456701234567", 10,
         "dea356a2cddd90c7a7ecedc5ebb563934f460452");
}

static void test_hmac_sha1(void **state)
{
    uint8_t key[80], data[80];
    unsigned i;

    (void)state;
    memset(key, 0x0b, 20);
    code(TOEC_AO_HMAC_SHA1, key, 20, "Hi There", 8, "b617318655057264e28bc0b6fb378c8ef146be00");
    code(TOEC_AO_HMAC_SHA1, (const uint8_t *)"Jefe", 4, "what do ya want for nothing?", 28,
         "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    memset(key, 0xaa, 80);
    memset(data, 0xdd, 50);
    code(TOEC_AO_HMAC_SHA1, key, 20, data, 50, "125d7342b9ac11cd91a39af48aa17b4f63f175d3");
    for (i = 0; i < 25; i++)
        key[i] = (uint8_t)(i + 1);
    memset(data, 0xcd, 50);
    code(TOEC_AO_HMAC_SHA1, key, 25, data, 50, "4c9007f4026250c6bc8414f9bf50c86c2d7235da");
    memset(key, 0x0c, 20);
    code(TOEC_AO_HMAC_SHA1, key, 20, "Test With Truncation", 20,
         "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04");
    memset(key, 0xaa, 80);
    code(TOEC_AO_HMAC_SHA1, key, 80, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
         "aa4ae5e15272d00e95705637ce8a3b55ed402112");
    code(TOEC_AO_HMAC_SHA1, key, 80,
         "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data", 73,
         "e8e99d0f45237d786d6bbaa7965c7808bbff1a91");
}

static void test_aes(void **state)
{
    uint8_t key[16], block[16];
    struct toec_aes a;

    (void)state;
    unhex("2b7e151628aed2a6abf7158809cf4f3c", key);
    unhex("3243f6a8885a308d313198a2e0370734", block);
    toec_aes_key(&a, key);
    is(a.round[10], "d014f9a8c9ee2589e13f0cc8b6630ca6");
    toec_aes_encrypt(&a, block);
    is(block, "3925841d02dc09fbdc118597196a0b32");
    unhex("000102030405060708090a0b0c0d0e0f", key);
    unhex("00112233445566778899aabbccddeeff", block);
    toec_aes_key(&a, key);
    toec_aes_encrypt(&a, block);
    is(block, "69c4e0d86a7b0430d8cdb78070b4c55a");
}

static void test_aes_cmac(void **state)
{
    uint8_t key[16], m[64];

    (void)state;
    unhex("2b7e151628aed2a6abf7158809cf4f3c", key);
    unhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
          "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
          m);
    code(TOEC_AO_AES_CMAC, key, 16, m, 0, "bb1d6929e95937287fa37d129b756746");
    code(TOEC_AO_AES_CMAC, key, 16, m, 16, "070a16b46b4d4144f79bdd9dd04a287c");
    code(TOEC_AO_AES_CMAC, key, 16, m, 40, "dfa66747de9ae63030ca32611497c827");
    code(TOEC_AO_AES_CMAC, key, 16, m, 64, "51f0bebf7e3b9d92fc49741779363cfe");
}

/* The memory used to compute a MAC keeps nothing of the key. */
static void test_nothing_left(void **state)
{
    static const struct toec_mac none;
    uint8_t key[16] = {1, 2, 3}, out[TOEC_MAC_MOST];
    struct toec_mac m;

    (void)state;
    toec_mac_start(&m, TOEC_AO_AES_CMAC, key, sizeof(key));
    toec_mac_end(&m, out);
    assert_memory_equal(&m.u, &none.u, sizeof(m.u));
    toec_mac_start(&m, TOEC_AO_HMAC_SHA1, key, sizeof(key));
    toec_mac_end(&m, out);
    assert_memory_equal(&m.u, &none.u, sizeof(m.u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha1),         cmocka_unit_test(test_hmac_sha1),
        cmocka_unit_test(test_aes),          cmocka_unit_test(test_aes_cmac),
        cmocka_unit_test(test_nothing_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
