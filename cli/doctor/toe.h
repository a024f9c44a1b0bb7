/* SPDX-License-Identifier: Apache-2.0 */
/* toe.h - the TOE behind a control socket: whether it answers, its process, its options. */
#ifndef TOE_CLI_DOCTOR_TOE_H
#define TOE_CLI_DOCTOR_TOE_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

enum toe_state {
    TOE_ABSENT,       /* no file at the path */
    TOE_STALE,        /* a socket that no process listens on */
    TOE_NOT_A_SOCKET, /* another kind of file */
    TOE_NO_RIGHT,     /* the caller may not connect */
    TOE_UNREACHABLE,  /* another error, in why */
    TOE_STOPPED,      /* SIGSTOP, or a debugger */
    TOE_SILENT,       /* accepts, and does not answer, or not as a TOE: why */
    TOE_ANSWERS
};

enum toe_kind { TOE_OTHER, TOE_AF_XDP, TOE_TAP };

struct toe {
    enum toe_state state;
    char why[256];
    int pid;       /* 0: unknown */
    json_t *stats; /* of `toehold stats --json`; NULL unless it answers */
    char *args;    /* its command line: words that end with NUL; NULL: unknown */
    size_t args_size;
    char program[PATH_MAX]; /* its file; "": unknown */
    bool replaced;          /* that file has been replaced or removed since it started */
    bool is_here;           /* in the network namespace of the caller */
    enum toe_kind kind;     /* of its interface */
    char interface[IF_NAMESIZE];
};

/* Finds the TOE. Waits five seconds at most. */
void toe_find(struct toe *t, const char *path);
void toe_free(struct toe *t);

/* Returns the state of a socket file, without a request to its listener. pid may be NULL. */
enum toe_state toe_knock(const char *path, int *fd, int *pid, char *why, size_t why_size);

/* Returns the value of an option of its command line, NULL: not given. Of an option without a
 * value: the word after it, or "". */
const char *toe_option(const struct toe *t, const char *name);

/* Writes the shell command that replaces it by a new process with the same options, by a take-over.
 * Returns false when it is not toed, or its command line is not known. */
bool toe_take_over_command(const struct toe *t, char *out, size_t size);

/* The same, by an end and a start with `more` options: connections are lost. */
bool toe_restart_command(const struct toe *t, const char *more, char *out, size_t size);

/* Returns its listeners as `toehold flows --json` lists them; NULL: it does not answer. */
json_t *toe_listeners(const char *path);

#endif
