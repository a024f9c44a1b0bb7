/* SPDX-License-Identifier: Apache-2.0 */
/* gateware.h - the simulated TOE that `toehold run --engine gateware` or `hybrid` starts. */
#ifndef TOE_CLI_GATEWARE_H
#define TOE_CLI_GATEWARE_H

enum cli_simulated {
    CLI_SIMULATES_NOTHING = 0,
    CLI_GATEWARE,
    CLI_HYBRID,
    CLI_HYBRID_PROTOTYPE,
    CLI_HYBRID_COMPLETE
};

/* Starts the simulation with the options of inline.h on this socket. Returns 0 when it is ready, or
 * an exit code after a message. */
int cli_gateware_start(enum cli_simulated which, const char *socket_path);

#endif
