/* SPDX-License-Identifier: Apache-2.0 */
/* pcapng.c - see pcapng.h. Each block is type, total length, body, options, total length again. */
#include <string.h>

#include "pcapng.h"

#define BYTE_ORDER_MAGIC 0x1a2b3c4du

enum block { SECTION = 0x0a0d0d0a, INTERFACE = 1, STATISTICS = 5, PACKET = 6 };
enum option {
    END_OF_OPTIONS = 0,
    COMMENT = 1,
    SHB_USERAPPL = 4,
    IF_NAME = 2,
    IF_DESCRIPTION = 3,
    IF_MACADDR = 6,
    IF_TSRESOL = 9,
    IF_FILTER = 11,
    EPB_FLAGS = 2,
    ISB_STARTTIME = 2,
    ISB_ENDTIME = 3,
    ISB_IFRECV = 4,
    ISB_IFDROP = 5,
    ISB_FILTERACCEPT = 6
};

#define LINKTYPE_ETHERNET 1u
#define NANOSECONDS       9u   /* if_tsresol: a power of ten */
#define FILTER_STRING     0u   /* if_filter begins with its kind */
#define TEXT_MAX          900u /* bytes of a text; longer ones are cut */
#define BLOCK_MAX         4096u

/* A block under construction, without the data of a packet. */
struct build {
    uint8_t bytes[BLOCK_MAX];
    uint32_t len;
};

static uint32_t padded(uint32_t n)
{
    return (n + 3) & ~3u;
}

static void put(struct build *b, const void *data, uint32_t n)
{
    memcpy(b->bytes + b->len, data, n);
    memset(b->bytes + b->len + n, 0, padded(n) - n);
    b->len += padded(n);
}

static void put32(struct build *b, uint32_t v)
{
    put(b, &v, sizeof v);
}

static void put16x2(struct build *b, uint16_t first, uint16_t second)
{
    const uint16_t both[2] = {first, second};

    put(b, both, sizeof both);
}

/* Times are two words, the upper one first. */
static void put_time(struct build *b, uint64_t ns)
{
    put32(b, (uint32_t)(ns >> 32));
    put32(b, (uint32_t)ns);
}

static void option(struct build *b, enum option code, const void *value, uint32_t n)
{
    put16x2(b, (uint16_t)code, (uint16_t)n);
    put(b, value, n);
}

static void option_text(struct build *b, enum option code, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    if (n)
        option(b, code, text, n < TEXT_MAX ? (uint32_t)n : TEXT_MAX);
}

static void option_time(struct build *b, enum option code, uint64_t ns)
{
    const uint32_t words[2] = {(uint32_t)(ns >> 32), (uint32_t)ns};

    option(b, code, words, sizeof words);
}

static void end_options(struct build *b)
{
    put16x2(b, END_OF_OPTIONS, 0);
}

/* Writes a block whose body is head, data and tail. */
static int write_block(FILE *f, enum block type, const struct build *head, const void *data,
                       uint32_t n, const struct build *tail)
{
    static const uint8_t zeroes[4];
    uint32_t total = 12 + head->len + padded(n) + (tail ? tail->len : 0);
    const uint32_t begin[2] = {type, total};

    if (fwrite(begin, sizeof begin, 1, f) != 1 || fwrite(head->bytes, 1, head->len, f) != head->len)
        return -1;
    if (n && fwrite(data, 1, n, f) != n)
        return -1;
    if (fwrite(zeroes, 1, padded(n) - n, f) != padded(n) - n)
        return -1;
    if (tail && fwrite(tail->bytes, 1, tail->len, f) != tail->len)
        return -1;
    return fwrite(&total, sizeof total, 1, f) == 1 ? 0 : -1;
}

int pcapng_section(FILE *f, const char *program)
{
    struct build b = {.len = 0};
    const uint64_t unknown_length = UINT64_MAX;

    put32(&b, BYTE_ORDER_MAGIC);
    put16x2(&b, 1, 0); /* version 1.0 */
    put(&b, &unknown_length, sizeof unknown_length);
    option_text(&b, SHB_USERAPPL, program);
    end_options(&b);
    return write_block(f, SECTION, &b, NULL, 0, NULL);
}

int pcapng_interface(FILE *f, const struct pcapng_interface *i)
{
    struct build b = {.len = 0};
    const uint8_t resolution = NANOSECONDS;
    char filter[TEXT_MAX] = {FILTER_STRING};

    put16x2(&b, LINKTYPE_ETHERNET, 0);
    put32(&b, i->snaplen);
    option_text(&b, IF_NAME, i->name);
    option_text(&b, IF_DESCRIPTION, i->description);
    option(&b, IF_MACADDR, i->mac, 6);
    option(&b, IF_TSRESOL, &resolution, 1);
    if (i->filter && *i->filter) {
        snprintf(filter + 1, sizeof filter - 1, "%s", i->filter);
        option(&b, IF_FILTER, filter, 1 + (uint32_t)strlen(filter + 1));
    }
    end_options(&b);
    return write_block(f, INTERFACE, &b, NULL, 0, NULL);
}

int pcapng_packet(FILE *f, const struct pcapng_packet *p)
{
    struct build head = {.len = 0}, tail = {.len = 0};

    put32(&head, p->interface);
    put_time(&head, p->time_ns);
    put32(&head, p->cap);
    put32(&head, p->len);
    option_text(&tail, COMMENT, p->comment);
    option(&tail, EPB_FLAGS, &p->flags, sizeof p->flags);
    end_options(&tail);
    return write_block(f, PACKET, &head, p->data, p->cap, &tail);
}

int pcapng_statistics(FILE *f, const struct pcapng_statistics *s)
{
    struct build b = {.len = 0};

    put32(&b, s->interface);
    put_time(&b, s->end_ns);
    option_time(&b, ISB_STARTTIME, s->start_ns);
    option_time(&b, ISB_ENDTIME, s->end_ns);
    option(&b, ISB_IFRECV, &s->received, sizeof s->received);
    option(&b, ISB_IFDROP, &s->dropped, sizeof s->dropped);
    option(&b, ISB_FILTERACCEPT, &s->accepted, sizeof s->accepted);
    end_options(&b);
    return write_block(f, STATISTICS, &b, NULL, 0, NULL);
}
