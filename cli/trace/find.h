/* SPDX-License-Identifier: Apache-2.0 */
/* find.h - which flow is meant: its id, or its addresses and ports. */
#ifndef TOE_CLI_TRACE_FIND_H
#define TOE_CLI_TRACE_FIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIND_ID_MAX 64

/* What the command line names: an id, or both ends of a connection. */
struct find {
    char id[FIND_ID_MAX];          /* ENGINE.RING.SERIAL; empty: by its ends */
    uint8_t local[16], remote[16]; /* IPv4 mapped */
    uint16_t local_port, remote_port;
};

/* Reads one word, an id, or two, LOCAL:PORT REMOTE:PORT, as toehold flows prints them. Returns
 * false with the reason in why. */
bool find_parse(struct find *f, int argc, char **argv, char *why, size_t size);

/* Fills id with that of the flow with these ends: the open one, else the one that ended last.
 * Returns an exit code, after a message. */
int find_flow(const char *path, struct find *f);

/* Returns "ADDRESS:PORT" or "[ADDRESS]:PORT" of an entry. */
void find_end_text(const json_t *entry, const char *address, const char *port, char *text,
                   size_t size);

#endif
