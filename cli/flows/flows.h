/* SPDX-License-Identifier: Apache-2.0 */
/* flows.h - `toehold flows`. */
#ifndef TOE_CLI_FLOWS_H
#define TOE_CLI_FLOWS_H

/* Runs the verb. Returns an exit code. */
int cli_flows(int argc, char **argv);

#endif
