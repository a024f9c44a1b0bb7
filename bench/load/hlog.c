/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlog.c - the encoding of HdrHistogram: the V2 form (a head of 40 bytes, big endian, then the
 * counters as ZigZag LEB128 numbers, runs of zeros as their negated length), deflated, in base64;
 * and the log of intervals around it (HistogramLogWriter of the Java implementation).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zlib.h>

#include "hlog.h"

/* 0x10: counters are variable-length words. */
#define V2_COOKIE            (0x1c849303u | 0x10u)
#define V2_COMPRESSED_COOKIE (0x1c849304u | 0x10u)
#define V2_HEAD              40u
#define LEB_MAX              9u
/* The log's Interval_Max is in milliseconds. */
#define MAX_UNIT 1e6

static uint8_t *put32(uint8_t *p, uint32_t v)
{
    unsigned i;

    for (i = 0; i < 4; i++)
        *p++ = (uint8_t)(v >> (24 - 8 * i));
    return p;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
    return put32(put32(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

/* ZigZag LEB128, 64b9B: seven bits a byte, least significant first, the ninth byte has eight. */
static uint8_t *put_leb(uint8_t *p, int64_t v)
{
    uint64_t z = ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
    unsigned i;

    for (i = 0; i < LEB_MAX - 1 && z >= 0x80; i++) {
        *p++ = (uint8_t)(z | 0x80);
        z >>= 7;
    }
    *p++ = (uint8_t)z;
    return p;
}

static uint8_t *put_counts(uint8_t *p, const struct hist *h)
{
    uint32_t i = 0;

    while (i < h->high) {
        uint32_t zeros = 0;

        while (i < h->high && h->counts[i] == 0) {
            zeros++;
            i++;
        }
        /* counts[high - 1] is not 0, so a run ends before `high`. */
        if (zeros)
            p = put_leb(p, zeros == 1 ? 0 : -(int64_t)zeros);
        else
            p = put_leb(p, (int64_t)h->counts[i++]);
    }
    return p;
}

/* Encodes the V2 form; *size is its length. */
static uint8_t *encode(const struct hist *h, size_t *size)
{
    const double ratio = 1.0;
    uint8_t *out = malloc(V2_HEAD + (size_t)h->high * LEB_MAX + LEB_MAX), *p, *end;
    uint64_t ratio_bits;

    if (!out)
        return NULL;
    memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
    end = put_counts(out + V2_HEAD, h);
    p = put32(out, V2_COOKIE);
    p = put32(p, (uint32_t)(end - out) - V2_HEAD);
    p = put32(p, 0); /* normalizing index offset */
    p = put32(p, HIST_DIGITS);
    p = put64(p, HIST_LOWEST);
    p = put64(p, HIST_HIGHEST);
    put64(p, ratio_bits);
    *size = (size_t)(end - out);
    return out;
}

static char *base64(const uint8_t *in, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = malloc((n + 2) / 3 * 4 + 1), *p = out;
    size_t i;

    if (!out)
        return NULL;
    for (i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;

        v |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
        v |= i + 2 < n ? in[i + 2] : 0;
        *p++ = digits[v >> 18];
        *p++ = digits[v >> 12 & 63];
        *p++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *p++ = i + 2 < n ? digits[v & 63] : '=';
    }
    *p = '\0';
    return out;
}

char *hist_encode(const struct hist *h)
{
    size_t size = 0;
    uint8_t *plain = encode(h, &size), *packed;
    uLongf room = compressBound((uLong)size);
    char *text = NULL;

    packed = plain ? malloc(8 + room) : NULL;
    if (packed && compress(packed + 8, &room, plain, (uLong)size) == Z_OK) {
        put32(put32(packed, V2_COMPRESSED_COOKIE), (uint32_t)room);
        text = base64(packed, 8 + room);
    }
    free(packed);
    free(plain);
    return text;
}

void hlog_begin(FILE *f, double started, const char *comment)
{
    time_t t = (time_t)started;
    char date[64];
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(date, sizeof date, "%a %b %d %H:%M:%S UTC %Y", &tm);
    fprintf(f, "#[%s]\n#[Histogram log format version 1.3]\n", comment);
    fprintf(f, "#[StartTime: %.3f (seconds since epoch), %s]\n", started, date);
    fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
          "\"Interval_Compressed_Histogram\"\n",
          f);
}

int hlog_interval(FILE *f, double at, double length, const struct hist *h)
{
    char *text = hist_encode(h);

    if (!text)
        return -1;
    fprintf(f, "%.3f,%.3f,%.3f,%s\n", at, length, (double)h->max / MAX_UNIT, text);
    free(text);
    return 0;
}
