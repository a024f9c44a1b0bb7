/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - options of packetdrill that it does not pass to the stack (options.c). */
#ifndef VIRTUAL_OPTIONS_H
#define VIRTUAL_OPTIONS_H

/* Returns the --mtu of a packetdrill with this command line (a file as /proc/PID/cmdline), or of
 * the script that it names, or 0: there is none. The command line wins, as in packetdrill. */
unsigned options_mtu(const char *cmdline);

#endif
