/* SPDX-License-Identifier: Apache-2.0 */
/* hlog.h - interval histograms as an HdrHistogram log, version 1.3. */
#ifndef LOAD_HLOG_H
#define LOAD_HLOG_H

#include <stdio.h>

#include <toe/hist.h>

/* Returns the V2 compressed encoding in base64 as text that the caller frees. NULL: no memory. */
char *hist_encode(const struct hist *h);

/* started: seconds since 1970. */
void hlog_begin(FILE *f, double started, const char *comment);
/* One interval: seconds since the start, its length in seconds. -1: no memory. */
int hlog_interval(FILE *f, double at, double length, const struct hist *h);

#endif
