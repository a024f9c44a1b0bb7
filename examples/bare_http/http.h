/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - requests and answers of HTTP/1.1 (RFC 9112), byte by byte: no buffer but a line. */
#ifndef HTTP_H
#define HTTP_H

#include <stdint.h>

#define HTTP_LINE 64u   /* longer header fields are cut, longer request lines answered with 414 */
#define HTTP_HEAD 4096u /* bytes of a request at most */

/* A request as its bytes come. All zero: none has come yet. */
struct http_request {
    char line[HTTP_LINE];
    uint16_t n;     /* bytes of this line, may exceed `line` */
    uint16_t bytes; /* of the request */
    uint16_t status;
    uint8_t head, close; /* without a body; the connection ends with the answer */
    uint8_t seen;        /* the request line has come */
    uint8_t what;        /* enum http_what */
    uint32_t size;       /* of HTTP_BYTES */
};

enum http_what { HTTP_PAGE, HTTP_BYTES, HTTP_TEXT };

/* Takes a byte. Returns 1 when the request is complete, or so wrong that the connection must end:
 * then status, what, size, head and close say what to answer. */
int http_byte(struct http_request *r, uint8_t byte);

/* Writes the answer's header into `to`, of 192 bytes. Returns its length. */
uint32_t http_header(const struct http_request *r, uint32_t body, char *to);

#endif
