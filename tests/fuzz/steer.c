/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.c - fuzz target: which of several engines a frame is for (engine/src/frames/steer.c),
 * decided from unchecked headers.
 *
 * Input: [number of engines][the one it arrived at][frame]. Checks: nothing is read beyond the
 * frame; the answer is an engine or one of the two constants; both directions of a TCP connection
 * have the same home.
 */
#include "frames/steer.h"

#include "fuzz.h"

static void swap(uint8_t *a, uint8_t *b, size_t n)
{
    uint8_t c;

    for (; n; n--, a++, b++) {
        c = *a;
        *a = *b;
        *b = c;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    uint32_t count = 1 + fuzz_u8(&in) % 64, here = fuzz_u8(&in) % count, home, ports;
    uint8_t *f = fuzz_exact(in.p, in.left);

    home = steer_home(f, (uint32_t)in.left, here, count);
    FUZZ_CHECK(home < count || home == STEER_ALL || home == STEER_DROP);
    if (in.left >= 54 && f[12] == 0x86 && f[13] == 0xdd && f[20] == 6 && in.left >= 58) {
        swap(f + 22, f + 38, 16);
        swap(f + 54, f + 56, 2);
        FUZZ_CHECK(steer_home(f, (uint32_t)in.left, here, count) == home);
    } else if (in.left >= 34 && f[12] == 8 && f[13] == 0 && f[23] == 6) {
        ports = 14 + (f[14] & 15u) * 4;
        swap(f + 26, f + 30, 4);
        if (ports >= 34 && ports + 4 <= in.left)
            swap(f + ports, f + ports + 2, 2);
        FUZZ_CHECK(steer_home(f, (uint32_t)in.left, here, count) == home);
    }
    free(f);
    return 0;
}
