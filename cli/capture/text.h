/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a captured frame as a line, as JSON, and as the comment of a packet in a file. */
#ifndef TOE_CLI_CAPTURE_TEXT_H
#define TOE_CLI_CAPTURE_TEXT_H

#include <stddef.h>

#include "area.h"

/* Prints one line on standard output. Returns 0, or -1 with errno. */
int text_line(const struct frame *f);
int text_json(const struct frame *f);
/* Writes the comment: the flow, several segments, the reason for a drop. Empty: none of them. */
void text_comment(const struct frame *f, char *text, size_t size);

#endif
