/* SPDX-License-Identifier: Apache-2.0 */
/* exit.h - the exit codes of `toehold` itself (cli/README.md). */
#ifndef TOE_CLI_EXIT_H
#define TOE_CLI_EXIT_H

/* `toehold run` ends with the exit code of its command once that has started. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILURE = 1,      /* a message gives the reason */
    CLI_USAGE = 2,        /* wrong arguments */
    CLI_CONFIG = 3,       /* the environment or the installation is invalid */
    CLI_NO_DAEMON = 4,    /* no toed answers */
    CLI_REFUSED = 5,      /* run --require: the program would bypass the TOE */
    CLI_NO_SOURCE = 7,    /* no such registers, or source of times */
    CLI_NO_SAMPLE = 8,    /* rtt, tune: measured, but nothing was answered */
    CLI_WARNING = 9,      /* doctor: warnings, and no error */
    CLI_CANNOT_RUN = 126, /* as a shell: found, but cannot be executed */
    CLI_NOT_FOUND = 127   /* as a shell: no such command */
};

#endif
