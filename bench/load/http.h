/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - parses answers of HTTP/1.x that arrive in pieces: status and length of the body. */
#ifndef LOAD_HTTP_H
#define LOAD_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 8192u

struct http_answer {
    char *head; /* the received part of a head; HTTP_HEAD_MAX bytes, or NULL */
    uint32_t head_size;
    bool in_body, until_end; /* until_end: no length; the body ends with the connection */
    int status;
    uint64_t length, left; /* of the body; until_end: length counts the received bytes */
};

/*
 * Parses received bytes. Returns 1 when the answer is complete, 0 when it is not, -1 when it is
 * invalid (no HTTP, a head over HTTP_HEAD_MAX, chunked). *body and *body_size are the part of the
 * bytes that belongs to the body; *used is the number of bytes parsed.
 */
int http_take(struct http_answer *a, const char *data, size_t n, size_t *used, const char **body,
              size_t *body_size);
/* Resets the parser for the next answer. */
void http_next(struct http_answer *a);

#endif
