/* SPDX-License-Identifier: Apache-2.0 */
/* offload.h - `toehold offload`. */
#ifndef TOE_CLI_OFFLOAD_H
#define TOE_CLI_OFFLOAD_H

/* Runs the verb. Returns an exit code. */
int cli_offload(int argc, char **argv);

#endif
