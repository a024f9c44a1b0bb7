/* SPDX-License-Identifier: Apache-2.0 */
/* openmetrics.h - the statistics of a TOE as OpenMetrics text (openmetrics.io, version 1.0.0). */
#ifndef TOE_CLI_OPENMETRICS_H
#define TOE_CLI_OPENMETRICS_H

#include <stdio.h>

#include <jansson.h>

#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Writes the answer to TOEDEV_HELLO_QUERY. NULL: no TOE answers, so toehold_up is 0. */
void openmetrics_write(FILE *f, const json_t *stats);

#endif
