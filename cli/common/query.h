/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - questions to a running TOE that it answers with JSON (toe/attach.h). */
#ifndef TOE_CLI_QUERY_H
#define TOE_CLI_QUERY_H

#include <jansson.h>

/*
 * Sends a hello of this kind and name to the TOE at path, and returns its answer, an object, which
 * the caller releases. NULL: *code is an exit code, and why (why_size bytes) has the reason.
 */
json_t *cli_query_quietly(const char *path, unsigned kind, const char *name, int *code, char *why,
                          size_t why_size);
/* Does the same, with the reason as a message. */
json_t *cli_query(const char *path, unsigned kind, const char *name, int *code);

/* Calls keep() with each entry of the array `list` of all batches: of this kind, from `from` on.
 * Returns an exit code; after a failure why has the reason. */
int cli_query_all(const char *path, unsigned kind, const char *from, const char *list,
                  void (*keep)(void *arg, json_t *entry), void *arg, char *why, size_t why_size);

#endif
