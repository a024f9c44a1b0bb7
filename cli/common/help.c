/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - see help.h. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <toe/attach.h>

#include "help.h"

#define COLUMN 22 /* where the help of an option begins */

const struct cli_option cli_common_options[] = {
    {"quiet", 'q', .help = "errors only on standard error"},
    {"verbose", 'v', .help = "print on standard error what is done, and with what"},
    {.name = NULL}};

bool cli_option_exists(const struct cli_option *known, const char *name)
{
    while (known->name && strcmp(known->name, name) != 0)
        known++;
    return known->name != NULL;
}

static const char *value_of(const struct cli_option *k)
{
    if (!cli_option_takes_value(k))
        return NULL;
    return k->value ? k->value : k->number ? "N" : "VALUE";
}

/* Prints lines, each after a prefix; the first after `first`. */
static void print_lines(const char *text, const char *first, const char *prefix)
{
    for (; text && *text; first = prefix) {
        size_t n = strcspn(text, "\n");

        printf("%s%.*s\n", first, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void print_option(const struct cli_option *k)
{
    const char *value = value_of(k);
    char left[64], indent[COLUMN + 1];
    int n;

    if (k->letter)
        n = snprintf(left, sizeof left, "  -%c, --%s", k->letter, k->name);
    else
        n = snprintf(left, sizeof left, "  --%s", k->name);
    if (value)
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", value);
    snprintf(indent, sizeof indent, "%*s", COLUMN, "");
    if (n > COLUMN - 2) {
        puts(left);
        print_lines(k->help, indent, indent);
    } else {
        printf("%-*s", COLUMN, left);
        print_lines(k->help, "", indent);
    }
}

void cli_help_print(const struct cli_options *o)
{
    const struct cli_option *k;
    char first[64], prefix[64];

    if (!o->usage)
        return;
    snprintf(first, sizeof first, "usage: toehold %s ", o->verb);
    snprintf(prefix, sizeof prefix, "       toehold %s ", o->verb);
    print_lines(o->usage, first, prefix);
    putchar('\n');
    if (o->text)
        printf("%s\n\n", o->text);
    for (k = o->known; k->name; k++)
        if (k->help)
            print_option(k);
    for (k = cli_common_options; k->name; k++)
        if (!cli_option_exists(o->known, k->name))
            print_option(k);
    puts("  -h, --help          this text\n"
         "  -V, --version       version of toehold");
    if (o->after)
        printf("\n%s\n", o->after);
}

void cli_help_version(void)
{
    printf("toehold %s (device contract %u)\n", TOEHOLD_VERSION, TOEDEV_CONTRACT_VERSION);
}

static json_t *describe_option(const struct cli_option *k)
{
    const char letter[2] = {k->letter, '\0'}, *value = value_of(k);
    json_t *option =
        json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}", "name", k->name, "letter",
                  k->letter ? letter : NULL, "value", value, "help", k->help, "unit", k->unit);

    if (k->number) {
        json_object_set_new(option, "min", json_integer((json_int_t)k->min));
        json_object_set_new(option, "max", json_integer((json_int_t)k->max));
    }
    return option;
}

/* Returns the words of a list that blanks separate. */
static json_t *words_of(const char *list)
{
    json_t *words = json_array();

    while (list && *list) {
        size_t n = strcspn(list, " ");

        json_array_append_new(words, json_stringn(list, n));
        list += n + (list[n] == ' ');
    }
    return words;
}

void cli_help_describe(const struct cli_options *o)
{
    json_t *options = json_array(), *root;
    const struct cli_option *k;

    for (k = o->known; k->name; k++)
        json_array_append_new(options, describe_option(k));
    for (k = cli_common_options; k->name; k++)
        if (!cli_option_exists(o->known, k->name))
            json_array_append_new(options, describe_option(k));
    root = json_pack("{s:s, s:s*, s:s*, s:s*, s:o, s:o}", "name", o->verb, "usage", o->usage,
                     "text", o->text, "after", o->after, "arguments", words_of(o->arguments),
                     "options", options);
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(root);
}
