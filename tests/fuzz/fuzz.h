/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - shared by the fuzz targets: an input read as a list of numbers, and checks that work
 * with or without a fuzzer.
 *
 * A target defines LLVMFuzzerTestOneInput(). libFuzzer and AFL++ call it; without them replay.c
 * does, on files. A target keeps no state between inputs.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Called once before the first input; a target may define it. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
/* Not 0: TOE_FUZZ_VERBOSE is set, and the target logs events to stderr (asserts.c). */
extern int fuzz_verbose;

/* Asserts a property. A fuzzer reports abort() as a finding. */
#define FUZZ_CHECK(what)                                                                           \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

struct fuzz_in {
    const uint8_t *p;
    size_t left;
};

/* The next number; 0 beyond the end. */
static inline uint32_t fuzz_u8(struct fuzz_in *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->p++;
}

static inline uint32_t fuzz_u16(struct fuzz_in *in)
{
    uint32_t high = fuzz_u8(in);

    return high << 8 | fuzz_u8(in);
}

static inline uint32_t fuzz_u32(struct fuzz_in *in)
{
    uint32_t high = fuzz_u16(in);

    return high << 16 | fuzz_u16(in);
}

/* Returns the next n bytes, or the rest if fewer remain; *got is the number. */
static inline const uint8_t *fuzz_bytes(struct fuzz_in *in, size_t n, size_t *got)
{
    const uint8_t *p = in->p;

    if (n > in->left)
        n = in->left;
    in->p += n;
    in->left -= n;
    *got = n;
    return p;
}

/* A copy that ends where its memory ends, so that AddressSanitizer sees one byte too far. */
static inline void *fuzz_exact(const void *data, size_t n)
{
    void *copy = malloc(n ? n : 1);

    if (!copy)
        abort();
    if (n)
        memcpy(copy, data, n);
    return copy;
}

#endif
