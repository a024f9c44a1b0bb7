/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - the time-sequence picture of a flow. */
#ifndef TOE_CLI_TRACE_SVG_H
#define TOE_CLI_TRACE_SVG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether the file can be written, and empties it: an error shows before the flow is
 * followed. */
bool svg_writable(const char *path, char *why, size_t size);

/*
 * Draws a flow that was followed (follow.h): the sent stream as tcptrace does (acknowledged,
 * sent, the peer's window, SACKed, retransmissions, timeouts), cwnd and ssthresh, and the received
 * stream. Returns false with the reason in why.
 */
bool svg_trace(const json_t *flow, const char *path, char *why, size_t size);

#endif
