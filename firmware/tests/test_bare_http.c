/* SPDX-License-Identifier: Apache-2.0 */
/* test_bare_http.c - requests of examples/bare_http, well and badly formed, and their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "http.h"

#define LONG_64 "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *text;
    unsigned status, what, size, close, head;
} cases[] = {
    {"GET / HTTP/1.1\r\n\r\n", 200, HTTP_PAGE, 0, 0, 0},
    {"GET / HTTP/1.1\n\n", 200, HTTP_PAGE, 0, 0, 0},
    {"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 200, HTTP_PAGE, 0, 0, 0},
    {"GET / HTTP/1.0\r\n\r\n", 200, HTTP_PAGE, 0, 1, 0},
    {"HEAD / HTTP/1.1\r\n\r\n", 200, HTTP_PAGE, 0, 0, 1},
    {"GET /bytes/0 HTTP/1.1\r\n\r\n", 200, HTTP_BYTES, 0, 0, 0},
    {"GET /bytes/16777216 HTTP/1.1\r\n\r\n", 200, HTTP_BYTES, 16777216, 0, 0},
    {"GET /bytes/16777217 HTTP/1.1\r\n\r\n", 404, HTTP_TEXT, 0, 0, 0},
    {"GET /bytes/99999999999999999999 HTTP/1.1\r\n\r\n", 404, HTTP_TEXT, 0, 0, 0},
    {"GET /bytes/ HTTP/1.1\r\n\r\n", 404, HTTP_TEXT, 0, 0, 0},
    {"GET /bytes/-1 HTTP/1.1\r\n\r\n", 404, HTTP_TEXT, 0, 0, 0},
    {"GET /bytes/1x HTTP/1.1\r\n\r\n", 404, HTTP_TEXT, 0, 0, 0},
    {"GET /x HTTP/1.1\r\n\r\n", 404, HTTP_TEXT, 0, 0, 0},
    {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 200, HTTP_PAGE, 0, 1, 0},
    {"GET / HTTP/1.1\r\nCONNECTION: CLOSE\r\n\r\n", 200, HTTP_PAGE, 0, 1, 0},
    {"GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", 200, HTTP_PAGE, 0, 0, 0},
    {"GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", 200, HTTP_PAGE, 0, 1, 0},
    {"POST / HTTP/1.1\r\n\r\n", 501, HTTP_TEXT, 0, 1, 0},
    {"get / HTTP/1.1\r\n\r\n", 501, HTTP_TEXT, 0, 1, 0},
    {"GET / HTTP/2.0\r\n\r\n", 505, HTTP_TEXT, 0, 1, 0},
    {"GET / SPDY\r\n\r\n", 400, HTTP_TEXT, 0, 1, 0},
    {"GET /\r\n\r\n", 400, HTTP_TEXT, 0, 1, 0},
    {"GET\r\n\r\n", 501, HTTP_TEXT, 0, 1, 0},
    {"GET " LONG_64 " HTTP/1.1\r\n\r\n", 414, HTTP_TEXT, 0, 1, 0},
    {"GET / HTTP/1.1\r\nLong: " LONG_64 LONG_64 "\r\n\r\n", 200, HTTP_PAGE, 0, 0, 0},
};

static void test_requests(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request r = {.status = 200};
        const char *at = cases[i].text;

        while (at[1]) /* complete with its last byte, and not before */
            assert_int_equal(http_byte(&r, (uint8_t)*at++), 0);
        assert_int_equal(http_byte(&r, (uint8_t)*at), 1);
        if (r.status != cases[i].status || r.what != cases[i].what || r.close != cases[i].close ||
            r.head != cases[i].head || (r.status == 200 && r.size != cases[i].size))
            fail_msg("%s: status %u, what %u, size %u, close %u, head %u", cases[i].text, r.status,
                     r.what, r.size, r.close, r.head);
    }
}

static void test_an_endless_request_ends(void **state)
{
    struct http_request r = {.status = 200};
    unsigned n = 1;

    (void)state;
    while (!http_byte(&r, 'a'))
        assert_in_range(++n, 1, HTTP_HEAD + 1);
    assert_int_equal(n, HTTP_HEAD + 1);
    assert_int_equal(r.status, 431);
    assert_int_equal(r.close, 1);
}

static void test_headers(void **state)
{
    struct http_request r = {.status = 200, .what = HTTP_BYTES};
    char to[192];
    const char *want = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                       "Content-Length: 16777216\r\n\r\n";

    (void)state;
    assert_int_equal(http_header(&r, 16777216, to), strlen(want));
    assert_memory_equal(to, want, strlen(want));
    r = (struct http_request){.status = 431, .what = HTTP_TEXT, .close = 1};
    want = "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain\r\n"
           "Content-Length: 0\r\nConnection: close\r\n\r\n";
    assert_int_equal(http_header(&r, 0, to), strlen(want));
    assert_memory_equal(to, want, strlen(want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_an_endless_request_ends),
        cmocka_unit_test(test_headers),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
