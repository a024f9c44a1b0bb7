/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - `toehold capture`. */
#ifndef TOE_CLI_CAPTURE_H
#define TOE_CLI_CAPTURE_H

/* Runs the verb. Returns an exit code. */
int cli_capture(int argc, char **argv);

#endif
