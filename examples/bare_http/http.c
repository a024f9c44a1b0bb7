/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - reads requests, writes headers (http.h). */
#include "http.h"

#define MOST_BYTES 16777216u /* of /bytes/N */

static int begins(const char *text, const char *with)
{
    while (*with)
        if (*text++ != *with++)
            return 0;
    return 1;
}

/* The same for header fields, whose names and here whose values ignore case. */
static int is_field(const char *line, const char *small)
{
    for (; *small; line++, small++) {
        char c = *line;

        if (c >= 'A' && c <= 'Z')
            c = (char)(c + ('a' - 'A'));
        if (c != *small)
            return 0;
    }
    return *line == 0;
}

/* Reads a decimal number up to a space; returns 0 when there is none, or more than MOST_BYTES. */
static int number(const char *text, uint32_t *n)
{
    const char *at = text;

    for (*n = 0; *at >= '0' && *at <= '9' && *n <= MOST_BYTES; at++)
        *n = *n * 10 + (uint32_t)(*at - '0');
    return at != text && *at == ' ' && *n <= MOST_BYTES;
}

static uint16_t path(struct http_request *r, const char *target)
{
    if (begins(target, "/ "))
        r->what = HTTP_PAGE;
    else if (begins(target, "/bytes/") && number(target + 7, &r->size))
        r->what = HTTP_BYTES;
    else
        return 404;
    return 200;
}

static void request_line(struct http_request *r)
{
    const char *target = r->line + 4, *at;

    r->what = HTTP_TEXT;
    r->close = 1;
    if (r->n >= HTTP_LINE) {
        r->status = 414;
        return;
    }
    r->head = (uint8_t)begins(r->line, "HEAD ");
    if (!r->head && !begins(r->line, "GET ")) {
        r->status = 501;
        return;
    }
    target += r->head;
    for (at = target; *at && *at != ' '; at++)
        ;
    if (!begins(at, " HTTP/1.")) {
        r->status = *at && begins(at, " HTTP/") ? 505 : 400;
        return;
    }
    r->close = at[8] == '0';
    r->status = path(r, target);
}

static void field(struct http_request *r)
{
    if (is_field(r->line, "connection: close"))
        r->close = 1;
    /* A body would have to be read before the next request: the connection ends instead. */
    if (begins(r->line, "Content-Length:") || begins(r->line, "Transfer-Encoding:"))
        r->close = 1;
}

int http_byte(struct http_request *r, uint8_t byte)
{
    if (++r->bytes > HTTP_HEAD) {
        r->status = 431;
        r->what = HTTP_TEXT;
        return r->close = 1;
    }
    if (byte == '\r')
        return 0;
    if (byte != '\n') {
        if (r->n < HTTP_LINE - 1)
            r->line[r->n] = (char)byte;
        r->n++;
        return 0;
    }
    if (r->n == 0)
        return r->seen; /* an empty line: the end, or before the request line (RFC 9112 2.2) */
    r->line[r->n < HTTP_LINE ? r->n : HTTP_LINE - 1] = 0;
    if (r->seen)
        field(r);
    else
        request_line(r);
    r->seen = 1;
    r->n = 0;
    return 0;
}

static char *put(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}

static char *put_number(char *to, uint32_t n)
{
    char digits[10];
    unsigned i = 0;

    do {
        digits[i++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (i)
        *to++ = digits[--i];
    return to;
}

static const char *reason(uint16_t status)
{
    switch (status) {
    case 200:
        return " OK";
    case 400:
        return " Bad Request";
    case 404:
        return " Not Found";
    case 414:
        return " URI Too Long";
    case 431:
        return " Request Header Fields Too Large";
    case 501:
        return " Not Implemented";
    default:
        return " HTTP Version Not Supported";
    }
}

uint32_t http_header(const struct http_request *r, uint32_t body, char *to)
{
    char *at = put(to, "HTTP/1.1 ");

    at = put_number(at, r->status);
    at = put(at, reason(r->status));
    at = put(at, "\r\nContent-Type: ");
    at = put(at, r->what == HTTP_BYTES ? "application/octet-stream" : "text/plain");
    at = put(at, "\r\nContent-Length: ");
    at = put_number(at, body);
    at = put(at, r->close ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    return (uint32_t)(at - to);
}
