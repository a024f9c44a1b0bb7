/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - reads answers of HTTP/1.x as they come in pieces: status and length of the body. */
#ifndef LOAD_HTTP_H
#define LOAD_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 8192u

struct http_answer {
    char *head; /* what has come of a head in pieces; HTTP_HEAD_MAX bytes, or NULL */
    uint32_t head_size;
    bool in_body, until_end; /* until_end: no length was told, the connection's end is the body's */
    int status;
    uint64_t length, left; /* of the body; length counts what has come when until_end */
};

/*
 * Takes bytes as they come. Returns 1 when the answer is whole, 0 when more is to come, -1 when it
 * cannot be read (no HTTP, a head over HTTP_HEAD_MAX, chunked). *body and *body_size are what of
 * the bytes is body; *used is how many were taken.
 */
int http_take(struct http_answer *a, const char *data, size_t n, size_t *used, const char **body,
              size_t *body_size);
/* Ready for the next answer. */
void http_next(struct http_answer *a);

#endif
