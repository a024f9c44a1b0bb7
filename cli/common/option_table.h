/* SPDX-License-Identifier: Apache-2.0 */
/* option_table.h - the options of a verb as a table: what each takes, where its value goes, and how
 * help explains it. */
#ifndef TOE_CLI_COMMON_OPTION_TABLE_H
#define TOE_CLI_COMMON_OPTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <toe/attach.h>

/* The help of --socket. */
#define CLI_SOCKET_HELP                                                                            \
    "socket of the TOE (default $TOEHOLD_SOCKET,\nelse " TOEDEV_DEFAULT_SOCKET ")"

/* One option. A value follows if there is a place for it: text, number or take, unless bare. */
struct cli_option {
    const char *name; /* without "--"; NULL ends the table */
    char letter;      /* the short form, 0: none */
    bool bare;        /* take: no value follows */
    bool *flag;       /* set when the option is given */
    const char **text;
    uint64_t *number; /* a decimal whole number from min to max */
    uint64_t min, max;
    const char *unit; /* of number, for the error message; NULL: none */
    /* Takes the value (NULL if bare). Returns false after a message. */
    bool (*take)(void *arg, const char *name, const char *value);
    void *arg;
    const char *value; /* how help names the value; NULL: "N" of a number, else "VALUE" */
    const char *help;  /* lines of the text of --help; NULL: not listed (an alias) */
};

struct cli_options {
    const char *verb; /* begins error messages */
    const struct cli_option *known;
    bool mixed; /* options may follow other words; else the first other word ends them */
    /* For --help; usage NULL: the verb prints its own text. Lines are separated by '\n'. */
    const char *usage;     /* what follows "toehold VERB", a line for each form */
    const char *text;      /* before the options */
    const char *after;     /* after them: exit codes */
    const char *arguments; /* words that may follow, for completion, separated by blanks */
};

/* The options of every verb beside --help, --version and --describe; name NULL ends them. A verb
 * whose table has one of them explains it there. */
extern const struct cli_option cli_common_options[];

/* Returns whether a table has an option of this name. */
bool cli_option_exists(const struct cli_option *known, const char *name);

/* Returns whether a value follows the option. */
static inline bool cli_option_takes_value(const struct cli_option *k)
{
    return k->text || k->number || (k->take && !k->bare);
}

#endif
