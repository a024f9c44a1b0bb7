/* SPDX-License-Identifier: Apache-2.0 */
/* pcapng_test.c - the blocks that pcapng.h writes, byte by byte (draft-ietf-opsawg-pcapng). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../capture/pcapng.h"

/* A file in memory, read again as blocks. */
struct file {
    FILE *f;
    char *bytes;
    size_t size, at;
};

static void begin(struct file *file)
{
    memset(file, 0, sizeof *file);
    file->f = open_memstream(&file->bytes, &file->size);
    assert_non_null(file->f);
}

static void end(struct file *file)
{
    fclose(file->f);
    free(file->bytes);
}

static uint32_t word(const char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* The body of the next block, which must have this type. */
static const char *block(struct file *file, uint32_t type, uint32_t *len)
{
    const char *b;
    uint32_t total;

    fflush(file->f);
    assert_true(file->at + 12 <= file->size);
    b = file->bytes + file->at;
    assert_int_equal(word(b), type);
    total = word(b + 4);
    assert_int_equal(total % 4, 0);
    assert_true(file->at + total <= file->size);
    assert_int_equal(word(b + total - 4), total);
    file->at += total;
    *len = total - 12;
    return b + 8;
}

/* The value of an option in the len bytes of options at p. NULL: it is not there. */
static const char *option(const char *p, uint32_t len, uint16_t code, uint16_t *size)
{
    uint32_t at = 0;

    *size = 0;
    while (at + 4 <= len) {
        uint16_t head[2];

        memcpy(head, p + at, sizeof head);
        *size = head[1];
        if (head[0] == code)
            return p + at + 4;
        if (head[0] == 0)
            break;
        at += 4 + ((head[1] + 3u) & ~3u);
    }
    return NULL;
}

static void assert_text(const char *p, uint32_t len, uint16_t code, const char *text)
{
    uint16_t size;
    const char *value = option(p, len, code, &size);

    assert_non_null(value);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(value, text, size);
}

static uint64_t number(const char *p, uint32_t len, uint16_t code)
{
    uint16_t size;
    const char *value = option(p, len, code, &size);
    uint64_t n;

    assert_non_null(value);
    assert_int_equal(size, sizeof n);
    memcpy(&n, value, sizeof n);
    return n;
}

static void section(void **state)
{
    struct file file;
    const char *b;
    uint32_t len;
    uint64_t length;
    uint16_t version[2];

    (void)state;
    begin(&file);
    assert_int_equal(pcapng_section(file.f, "toehold 1"), 0);
    b = block(&file, 0x0a0d0d0a, &len);
    assert_int_equal(word(b), 0x1a2b3c4d);
    memcpy(version, b + 4, sizeof version);
    assert_int_equal(version[0], 1);
    assert_int_equal(version[1], 0);
    memcpy(&length, b + 8, sizeof length);
    assert_true(length == UINT64_MAX);
    assert_text(b + 16, len - 16, 4, "toehold 1");
    end(&file);
}

static void interface(void **state)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
    const struct pcapng_interface full = {"af_xdp:eth1", "toed, engine 0", "tcp", 96, mac},
                                  bare = {NULL, NULL, "", 262144, mac};
    struct file file;
    const char *b, *value;
    uint32_t len;
    uint16_t size, link[2];

    (void)state;
    begin(&file);
    assert_int_equal(pcapng_interface(file.f, &full), 0);
    assert_int_equal(pcapng_interface(file.f, &bare), 0);
    b = block(&file, 1, &len);
    memcpy(link, b, sizeof link);
    assert_int_equal(link[0], 1); /* Ethernet */
    assert_int_equal(word(b + 4), 96);
    assert_text(b + 8, len - 8, 2, "af_xdp:eth1");
    assert_text(b + 8, len - 8, 3, "toed, engine 0");
    value = option(b + 8, len - 8, 6, &size);
    assert_int_equal(size, 6);
    assert_memory_equal(value, mac, 6);
    value = option(b + 8, len - 8, 9, &size);
    assert_int_equal(size, 1);
    assert_int_equal(*value, 9); /* nanoseconds */
    value = option(b + 8, len - 8, 11, &size);
    assert_int_equal(size, 4);
    assert_memory_equal(value, "\0tcp", 4);
    b = block(&file, 1, &len);
    assert_null(option(b + 8, len - 8, 2, &size));
    assert_null(option(b + 8, len - 8, 11, &size));
    end(&file);
}

/* Each length of data and comment is padded to a multiple of four, by zeroes. */
static void packets(void **state)
{
    static const uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct file file;
    uint32_t n;

    (void)state;
    for (n = 0; n <= sizeof data; n++) {
        char comment[sizeof data + 1] = "";
        const struct pcapng_packet p = {.interface = 3,
                                        .time_ns = 0x1122334455667788u,
                                        .data = data,
                                        .cap = n,
                                        .len = 1500,
                                        .flags = PCAPNG_OUT,
                                        .comment = comment};
        const char *b, *value;
        uint32_t len, whole = (n + 3) & ~3u, i;
        uint16_t size;

        memset(comment, 'x', n);
        begin(&file);
        assert_int_equal(pcapng_packet(file.f, &p), 0);
        b = block(&file, 6, &len);
        assert_int_equal(word(b), 3);
        assert_int_equal(word(b + 4), 0x11223344);
        assert_int_equal(word(b + 8), 0x55667788);
        assert_int_equal(word(b + 12), n);
        assert_int_equal(word(b + 16), 1500);
        assert_memory_equal(b + 20, data, n);
        for (i = n; i < whole; i++)
            assert_int_equal(b[20 + i], 0);
        value = option(b + 20 + whole, len - 20 - whole, 2, &size);
        assert_int_equal(word(value), PCAPNG_OUT);
        if (n)
            assert_text(b + 20 + whole, len - 20 - whole, 1, comment);
        else
            assert_null(option(b + 20 + whole, len - 20 - whole, 1, &size));
        end(&file);
    }
}

static void statistics(void **state)
{
    const struct pcapng_statistics s = {.interface = 1,
                                        .start_ns = 0x100000002u,
                                        .end_ns = 0x300000004u,
                                        .received = 100,
                                        .dropped = 7,
                                        .accepted = 50};
    struct file file;
    const char *b, *value;
    uint32_t len;
    uint16_t size;

    (void)state;
    begin(&file);
    assert_int_equal(pcapng_statistics(file.f, &s), 0);
    b = block(&file, 5, &len);
    assert_int_equal(word(b), 1);
    assert_int_equal(word(b + 4), 3);
    assert_int_equal(word(b + 8), 4);
    value = option(b + 12, len - 12, 2, &size); /* isb_starttime: the upper word first */
    assert_int_equal(word(value), 1);
    assert_int_equal(word(value + 4), 2);
    assert_int_equal(number(b + 12, len - 12, 4), 100);
    assert_int_equal(number(b + 12, len - 12, 5), 7);
    assert_int_equal(number(b + 12, len - 12, 6), 50);
    end(&file);
}

static void texts_too_long(void **state)
{
    static char text[5000];
    static const uint8_t mac[6];
    const struct pcapng_interface i = {text, text, text, 96, mac};
    struct file file;
    const char *b, *value;
    uint32_t len;
    uint16_t size;

    (void)state;
    memset(text, 'n', sizeof text - 1);
    begin(&file);
    assert_int_equal(pcapng_interface(file.f, &i), 0);
    b = block(&file, 1, &len);
    value = option(b + 8, len - 8, 2, &size);
    assert_non_null(value);
    assert_int_equal(size, 900);
    assert_non_null(option(b + 8, len - 8, 11, &size));
    end(&file);
}

static void a_full_disk(void **state)
{
    static const uint8_t data[60];
    const struct pcapng_packet p = {.data = data, .cap = sizeof data, .len = sizeof data};
    FILE *f = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(f);
    setvbuf(f, NULL, _IONBF, 0);
    assert_int_equal(pcapng_packet(f, &p), -1);
    assert_int_equal(errno, ENOSPC);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(section),        cmocka_unit_test(interface),
        cmocka_unit_test(packets),        cmocka_unit_test(statistics),
        cmocka_unit_test(texts_too_long), cmocka_unit_test(a_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
