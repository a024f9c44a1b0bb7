/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what the files of the program `toehold` share. */
#ifndef TOE_CLI_H
#define TOE_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of `toehold` itself (cli/README.md). `toehold run` otherwise ends as its command. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILURE = 1,      /* it could not be done: the message says why */
    CLI_USAGE = 2,        /* wrong arguments */
    CLI_CONFIG = 3,       /* a setting of the environment or the installation is wrong */
    CLI_NO_DAEMON = 4,    /* no toed answers */
    CLI_REFUSED = 5,      /* --require, and the program would bypass the TOE */
    CLI_NO_SOURCE = 7,    /* registers, or a source of times, cannot be had */
    CLI_NO_SAMPLE = 8,    /* rtt: measured, but nothing was answered */
    CLI_CANNOT_RUN = 126, /* as a shell: found, but cannot be executed */
    CLI_NOT_FOUND = 127   /* as a shell: no such command */
};

int cli_run(int argc, char **argv);
int cli_stats(int argc, char **argv);
/* Executes the load generator in place of this program. */
int cli_bench(char **argv);
int cli_offload(int argc, char **argv);
int cli_reg(int argc, char **argv);
int cli_rtt(int argc, char **argv);

/* One message for people on stderr: "toehold: ...\n". */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The usage text of the whole program, to stdout or (wrong usage) stderr. */
void cli_usage(bool wrong);

/* Parses a whole decimal number within [min, max]. */
bool cli_number(const char *text, unsigned long min, unsigned long max, unsigned long *value);

/* Checks the TOEHOLD_* variables of the environment; says what is wrong and returns false. */
bool cli_check_environment(void);

/* The socket of toed: option, else $TOEHOLD_SOCKET, else the default. */
const char *cli_socket_path(const char *option);

/* Connects to toed. A descriptor, or -1 with the reason in words in why. */
int cli_connect(const char *path, char *why, size_t why_size);

/* Asks toed by a hello of this kind (enum toedev_hello_kind) with this name. The answer as text, to
 * be freed; NULL with a message said. */
char *cli_ask(int fd, unsigned kind, const char *name, size_t *size);

/* Takes an option of an engine within the command; value NULL: it has none. False: said why. */
bool cli_inline_option(const char *name, const char *value);
/* Has any been taken? */
bool cli_inline_any(void);
/* All that have been taken, as words between blanks. */
const char *cli_inline_words(void);
/* Starts the simulated gateware TOE with the options taken, on this socket. 0 when it is ready, or
 * an exit code with the message said. */
int cli_gateware_start(const char *socket_path);
/* Checks the options taken, or those of the environment, and sets the variables that lead the
 * command to its engine ("inline" or "thread"). 0, or an exit code with the message said;
 * *reachable: its interface can be had, else why says why not. */
int cli_inline_check(const char *engine, char *why, size_t why_size, bool *reachable);

/* Finds a file of Toehold's own: the one that the variable names, beside this program, in the
 * folder in_tree of its build tree ("../x/"), in the folder installed. False: said why; path has
 * PATH_MAX bytes. */
bool cli_find_part(const char *file, const char *in_tree, const char *installed,
                   const char *variable, char *path);

/* Finds the file a shell would execute for a command name. 0, CLI_NOT_FOUND or CLI_CANNOT_RUN;
 * path has PATH_MAX bytes. */
int cli_find_command(const char *name, char *path);

/* Would the dynamic linker load the preload library into this file, and would its socket calls go
 * through it? NULL when yes, else a clause that says why not ("is statically linked"). */
const char *cli_why_bypasses(const char *path);

#endif
