/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - text in a picture (SVG). */
#ifndef TOE_CLI_COMMON_SVG_H
#define TOE_CLI_COMMON_SVG_H

#include <stdio.h>

/* Writes a text at that place, escaped: names of programs, devices and addresses are not trusted.
 * anchor: "start", "middle" or "end". */
void cli_svg_text(FILE *f, double x, double y, const char *anchor, const char *s);

#endif
