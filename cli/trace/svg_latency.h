/* SPDX-License-Identifier: Apache-2.0 */
/* svg_latency.h - the latency of exchanges as a panel of a flow's picture. */
#ifndef TOE_CLI_TRACE_SVG_LATENCY_H
#define TOE_CLI_TRACE_SVG_LATENCY_H

#include <jansson.h>
#include <stdio.h>

/* Where the panel is, and which times its sides are. */
struct svg_frame {
    double left, right, top, height;
    long long from, to; /* ns */
};

/* Draws each of the exchanges as a bar of its parts, at the time of its request. */
void svg_latency(FILE *f, const json_t *exchanges, const struct svg_frame *at);

#endif
