/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - `toehold trace`. */
#ifndef TOE_CLI_TRACE_H
#define TOE_CLI_TRACE_H

/* argv[0] is "trace". Returns an exit code (exit.h). */
int cli_trace(int argc, char **argv);

#endif
