/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - a plot of samples and histogram. */
#ifndef TOE_CLI_SVG_H
#define TOE_CLI_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

/* Writes the file. Returns false with the reason in `why`. */
bool svg_write(const struct result *r, const char *path, char *why, size_t size);

#endif
