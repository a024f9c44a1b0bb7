/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - parses answers of HTTP/1.x (RFC 9112) as far as needed to find their end. Rejects
 * chunked bodies.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http.h"

static bool digits(const char *p, const char *end, uint64_t *out)
{
    uint64_t v = 0;

    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (p == end || end - p > 15)
        return false;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return false;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *out = v;
    return true;
}

/* Returns the value of a field line if it has this name, else NULL. */
static const char *field(const char *line, const char *end, const char *name)
{
    size_t n = strlen(name);

    if ((size_t)(end - line) <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
        return NULL;
    return line + n + 1;
}

static int read_fields(struct http_answer *a, const char *p, const char *end)
{
    bool has_length = false;

    while (p < end) {
        const char *eol = memchr(p, '\r', (size_t)(end - p)), *value;

        eol = eol ? eol : end;
        if (field(p, eol, "transfer-encoding"))
            return -1;
        value = field(p, eol, "content-length");
        if (value && !digits(value, eol, &a->length))
            return -1;
        has_length = has_length || value;
        p = eol + 2;
    }
    /* RFC 9112 6.3: these have no body, whatever the fields. */
    if (a->status == 204 || a->status == 304 || a->status < 200)
        a->length = 0;
    else
        a->until_end = !has_length;
    a->left = a->length;
    return 0;
}

/* Parses a complete head: status line and fields, up to `end`. */
static int read_head(struct http_answer *a, const char *p, const char *end)
{
    const char *eol = memchr(p, '\r', (size_t)(end - p));

    if (!eol || eol - p < 12 || memcmp(p, "HTTP/1.", 7) != 0 || p[8] != ' ')
        return -1;
    if (p[9] < '1' || p[9] > '9' || p[10] < '0' || p[10] > '9' || p[11] < '0' || p[11] > '9')
        return -1;
    a->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    a->in_body = true;
    return read_fields(a, eol + 2, end);
}

/* Finds the end of the head in the kept and the new bytes. Returns as http_take(); 1: found. */
static int take_head(struct http_answer *a, const char *data, size_t n, size_t *used)
{
    const char *end = a->head_size ? NULL : memmem(data, n, "\r\n\r\n", 4);
    size_t before = a->head_size, room = HTTP_HEAD_MAX - before;

    if (end) { /* the common case: a complete head */
        *used = (size_t)(end - data) + 4;
        return read_head(a, data, end + 2) ? -1 : 1;
    }
    if (!a->head)
        a->head = malloc(HTTP_HEAD_MAX);
    if (!a->head)
        return -1;
    n = n < room ? n : room;
    memcpy(a->head + before, data, n);
    a->head_size += (uint32_t)n;
    end = memmem(a->head, a->head_size, "\r\n\r\n", 4);
    *used = n;
    if (!end)
        return a->head_size == HTTP_HEAD_MAX ? -1 : 0;
    *used = (size_t)(end - a->head) + 4 - before;
    return read_head(a, a->head, end + 2) ? -1 : 1;
}

int http_take(struct http_answer *a, const char *data, size_t n, size_t *used, const char **body,
              size_t *body_size)
{

    *used = *body_size = 0;
    if (!a->in_body) {
        int rc = take_head(a, data, n, used);

        if (rc <= 0)
            return rc;
    }
    *body = data + *used;
    *body_size = n - *used;
    if (a->until_end) {
        a->length += *body_size;
        *used = n;
        return 0;
    }
    if (*body_size > a->left)
        *body_size = a->left;
    a->left -= *body_size;
    *used += *body_size;
    return a->left == 0;
}

void http_next(struct http_answer *a)
{
    char *head = a->head;

    memset(a, 0, sizeof *a);
    a->head = head;
}
