/* SPDX-License-Identifier: Apache-2.0 */
/* hlog.h - writes interval histograms as an HdrHistogram log, version 1.3. */
#ifndef LOAD_HLOG_H
#define LOAD_HLOG_H

#include <stdio.h>

#include <toe/hist.h>

/* Returns the V2 compressed encoding in base64 as text that the caller frees. NULL: no memory. */
char *hist_encode(const struct hist *h);

/* Writes the head of a log; started: seconds since 1970. */
void hlog_begin(FILE *f, double started, const char *comment);
/* Writes one interval; at, length: seconds since the start. Returns -1 when there is no memory. */
int hlog_interval(FILE *f, double at, double length, const struct hist *h);

#endif
