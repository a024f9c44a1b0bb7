/* SPDX-License-Identifier: Apache-2.0 */
/* test_http.c - answers in one piece, in every two pieces, byte by byte, and rejected ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http.h"

static const char plain[] = "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length:  5 \r\n\r\nhello";

/* Parses n bytes in pieces of at most `piece`. Returns the last result; copies the body. */
static int take(struct http_answer *a, const char *data, size_t n, size_t piece, char *body)
{
    size_t at = 0, got = 0;
    int rc = 0;

    while (at < n && rc == 0) {
        size_t part = n - at < piece ? n - at : piece, used, size;
        const char *p = NULL;

        rc = http_take(a, data + at, part, &used, &p, &size);
        assert_true(rc < 0 || used == part || rc == 1);
        if (size)
            memcpy(body + got, p, size);
        got += size;
        at += used;
    }
    body[got] = '\0';
    return rc;
}

static void test_an_answer_in_pieces(void **state)
{
    struct http_answer a = {0};
    char body[64];
    size_t piece;

    (void)state;
    for (piece = 1; piece <= sizeof plain - 1; piece++) {
        assert_int_equal(take(&a, plain, sizeof plain - 1, piece, body), 1);
        assert_int_equal(a.status, 200);
        assert_int_equal(a.length, 5);
        assert_string_equal(body, "hello");
        http_next(&a);
    }
    free(a.head);
}

static void test_what_follows_an_answer_is_not_taken(void **state)
{
    static const char two[] = "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\nHTTP/1.1 200 ";
    struct http_answer a = {0};
    size_t used, size;
    const char *body;

    (void)state;
    assert_int_equal(http_take(&a, two, sizeof two - 1, &used, &body, &size), 1);
    assert_int_equal(a.status, 204);
    assert_int_equal(size, 0); /* RFC 9112 6.3: 204 has none */
    assert_string_equal(two + used, "HTTP/1.1 200 ");
    free(a.head);
}

static void test_without_a_length_the_end_is_the_connections(void **state)
{
    static const char open_end[] = "HTTP/1.0 200 OK\r\n\r\nabc";
    struct http_answer a = {0};
    char body[64];

    (void)state;
    assert_int_equal(take(&a, open_end, sizeof open_end - 1, 4, body), 0);
    assert_true(a.until_end);
    assert_int_equal(a.length, 3);
    free(a.head);
}

static void test_what_cannot_be_read_is_refused(void **state)
{
    static const char *const bad[] = {
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    };
    char body[64], *endless = malloc(2 * HTTP_HEAD_MAX);
    struct http_answer a = {0};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(take(&a, bad[i], strlen(bad[i]), 7, body), -1);
        http_next(&a);
        assert_int_equal(take(&a, bad[i], strlen(bad[i]), 1000, body), -1);
        http_next(&a);
    }
    memset(endless, 'x', 2 * (size_t)HTTP_HEAD_MAX);
    assert_int_equal(take(&a, endless, 2 * (size_t)HTTP_HEAD_MAX, 100, body), -1);
    free(endless);
    free(a.head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_in_pieces),
        cmocka_unit_test(test_what_follows_an_answer_is_not_taken),
        cmocka_unit_test(test_without_a_length_the_end_is_the_connections),
        cmocka_unit_test(test_what_cannot_be_read_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
