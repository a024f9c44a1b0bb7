/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - an HTTP server for one text, for collectors of metrics. */
#ifndef TOE_CLI_SERVE_H
#define TOE_CLI_SERVE_H

#include <stddef.h>

/* Returns the text to serve, which the caller frees, and its size. NULL: no memory. */
typedef char *(*serve_fn)(void *arg, size_t *size);

/*
 * Serves GET / and GET /metrics at ADDRESS:PORT, [IPV6]:PORT or unix:PATH, until a signal ends the
 * process. Returns an exit code after a message.
 */
int serve_text(const char *at, const char *type, serve_fn text, void *arg);

#endif
