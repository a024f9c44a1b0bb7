/* SPDX-License-Identifier: Apache-2.0 */
/* gateware.h - the simulated gateware TOE that `toehold run --engine gateware` starts. */
#ifndef TOE_CLI_GATEWARE_H
#define TOE_CLI_GATEWARE_H

/* Starts the simulation with the options of inline.h on this socket. Returns 0 when it is ready, or
 * an exit code after a message. */
int cli_gateware_start(const char *socket_path);

#endif
