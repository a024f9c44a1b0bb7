/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - fields of frames, in network byte order at any address. */
#ifndef ENGINE_BYTES_H
#define ENGINE_BYTES_H

#include <stdint.h>

static inline uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

static inline void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

#endif
