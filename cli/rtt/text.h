/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a result as text. */
#ifndef TOE_CLI_TEXT_H
#define TOE_CLI_TEXT_H

#include "measure.h"

/* Prints the figures so far: redrawn on a terminal, else as one line. */
void text_live(struct rtt *r);
/* Prints the result. */
void text_result(const struct rtt *r);
/* Formats a time with a unit ("12.3 us"). Returns buf. */
const char *text_time(double ns, char buf[32]);

#endif
