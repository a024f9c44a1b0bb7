/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#define _GNU_SOURCE
#include <assert.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include <toe/long_option.h>
#include <toe/number.h>

#include "exit.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "verbosity.h"

#define OPTIONS_MAX 40
/* getopt_long() returns the place in the table plus this, or a letter. */
#define FIRST    256
#define DESCRIBE 255
#define QUIET    'q'
#define VERBOSE  'v'
#define VERSION  'V'

/* Fills the tables of getopt_long(). */
static void describe(const struct cli_options *o, struct option *words, char *letters)
{
    int i;

    if (!o->mixed)
        *letters++ = '+';
    *letters++ = ':'; /* distinguishes a missing value from an unknown option */
    for (i = 0; o->known[i].name; i++) {
        const struct cli_option *k = &o->known[i];

        assert(i < OPTIONS_MAX);
        words[i] = (struct option){
            k->name, cli_option_takes_value(k) ? required_argument : no_argument, NULL, FIRST + i};
        if (!k->letter)
            continue;
        *letters++ = k->letter;
        if (cli_option_takes_value(k))
            *letters++ = ':';
    }
    if (!cli_option_exists(o->known, "quiet")) {
        words[i++] = (struct option){"quiet", no_argument, NULL, QUIET};
        *letters++ = QUIET;
    }
    words[i++] = (struct option){"verbose", no_argument, NULL, VERBOSE};
    words[i++] = (struct option){"help", no_argument, NULL, 'h'};
    words[i++] = (struct option){"version", no_argument, NULL, VERSION};
    words[i++] = (struct option){"describe", no_argument, NULL, DESCRIBE};
    words[i] = (struct option){NULL, 0, NULL, 0};
    *letters++ = VERBOSE;
    *letters++ = 'h';
    *letters++ = VERSION;
    *letters = '\0';
}

/* Finds the option that getopt_long() has returned. NULL: none. */
static const struct cli_option *find(const struct cli_options *o, int c)
{
    const struct cli_option *k = o->known;

    if (c >= FIRST)
        return &k[c - FIRST];
    while (k->name && k->letter != c)
        k++;
    return k->name ? k : NULL;
}

static bool take(const struct cli_options *o, const struct cli_option *k, const char *value)
{
    char want[TOE_NUMBER_WANT];

    if (k->flag)
        *k->flag = true;
    if (k->number && !toe_number(value, k->min, k->max, k->number, want, sizeof want)) {
        cli_message("%s: --%s %s is not %s%s%s%s", o->verb, k->name, value, want,
                    k->unit ? " (" : "", k->unit ? k->unit : "", k->unit ? ")" : "");
        return false;
    }
    if (k->text)
        *k->text = value;
    return !k->take || k->take(k->arg, k->name, value);
}

static int reject(const struct cli_options *o, int c, const char *word)
{
    if (c == ':')
        cli_message("%s: option %s needs a value", o->verb, word);
    else
        cli_message("%s: unknown option %s; toehold %s --help lists them", o->verb, word, o->verb);
    return CLI_USAGE;
}

static int reject_short(const struct cli_options *o, char **argv, const char *name)
{
    const char *word = toe_long_option_word(argv, optind, optarg);

    cli_message("%s: unknown option %.*s; write --%s in full, or toehold %s --help lists them",
                o->verb, (int)strcspn(word, "="), word, name, o->verb);
    return CLI_USAGE;
}

/* Prints what every verb can print of itself. */
static void answer(const struct cli_options *o, int c)
{
    if (c == 'h')
        cli_help_print(o);
    else if (c == VERSION)
        cli_help_version();
    else
        cli_help_describe(o);
}

/* Takes what every verb can be given: how much it prints beside errors. Returns false after a
 * message. */
static bool set_verbosity(const struct cli_options *o, enum cli_verbosity v)
{
    if (cli_verbosity() != CLI_NORMAL && cli_verbosity() != v) {
        cli_message("%s: give --quiet or --verbose, not both", o->verb);
        return false;
    }
    cli_set_verbosity(v);
    return true;
}

int cli_options(const struct cli_options *o, int argc, char **argv, bool *help)
{
    struct option words[OPTIONS_MAX + 6];
    char letters[2 * OPTIONS_MAX + 7];
    int c, at;

    *help = false;
    describe(o, words, letters);
    optind = 0; /* resets what getopt_long() has kept of an earlier call */
    opterr = 0;
    while (at = -1, (c = getopt_long(argc, argv, letters, words, &at)) != -1) {
        const struct cli_option *k = find(o, c);

        if (at >= 0 && !toe_long_option_in_full(argv, optind, optarg, words[at].name))
            return reject_short(o, argv, words[at].name);
        if (c == 'h' || c == VERSION || c == DESCRIBE) {
            *help = true;
            answer(o, c);
            return CLI_OK;
        }
        if (c == VERBOSE || c == QUIET || (k && strcmp(k->name, "quiet") == 0)) {
            if (!set_verbosity(o, c == VERBOSE ? CLI_VERBOSE : CLI_QUIET))
                return CLI_USAGE;
            if (!k)
                continue;
        }
        if (!k)
            return reject(o, c, argv[optind - 1]);
        if (!take(o, k, optarg))
            return CLI_USAGE;
    }
    return CLI_OK;
}
