/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - `toehold top` on a terminal. */
#ifndef TOE_CLI_TOP_SCREEN_H
#define TOE_CLI_TOP_SCREEN_H

#include "batch.h"

/* Shows looks on the terminal until the user quits or a signal arrives. Returns an exit code. */
int top_screen(const struct top_options *o);

#endif
