/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - see report.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "report.h"

#define SCHEMA_VERSION 1
#define INDENT         9 /* columns before the id, and before a cure */

static const char *const names[] = {"ok", "note", "warning", "error"};

struct report {
    json_t *findings; /* [{severity, id, found, cure, advice}] */
    unsigned count[4];
};

struct report *report_new(void)
{
    struct report *r = calloc(1, sizeof *r);

    if (r)
        r->findings = json_array();
    if (r && r->findings)
        return r;
    free(r);
    return NULL;
}

void report_free(struct report *r)
{
    if (r)
        json_decref(r->findings);
    free(r);
}

/* Replaces control characters. Returns whether there was one. */
static bool clean(char *text)
{
    bool changed = false;

    for (; *text; text++)
        if (iscntrl((unsigned char)*text)) {
            *text = '?';
            changed = true;
        }
    return changed;
}

/* Returns a string; NULL when the text has invalid UTF-8, or control characters that strict does
 * not permit. */
static json_t *text_of(const char *format, va_list args, bool strict)
{
    json_t *string = NULL;
    char *text;

    if (vasprintf(&text, format, args) < 0)
        return NULL;
    if (!clean(text) || !strict)
        string = json_string(text);
    if (!string && !strict) {
        char *c;

        for (c = text; *c; c++)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
        string = json_string(text);
    }
    free(text);
    return string;
}

void report_add(struct report *r, enum severity severity, const char *id, const char *format, ...)
{
    json_t *text;
    va_list args;

    va_start(args, format);
    text = text_of(format, args, false);
    va_end(args);
    r->count[severity]++;
    json_array_append_new(r->findings, json_pack("{s:s, s:s, s:o*}", "severity", names[severity],
                                                 "id", id, "found", text));
}

static json_t *last(struct report *r)
{
    return json_array_get(r->findings, json_array_size(r->findings) - 1);
}

void report_cure(struct report *r, const char *format, ...)
{
    json_t *text;
    va_list args;

    va_start(args, format);
    text = text_of(format, args, true);
    va_end(args);
    if (text)
        json_object_set_new(last(r), "cure", text);
}

void report_advice(struct report *r, const char *text)
{
    json_object_set_new(last(r), "advice", json_string(text));
}

enum severity report_worst(const struct report *r)
{
    enum severity s = FOUND_ERROR;

    while (s > FOUND_OK && !r->count[s])
        s--;
    return s;
}

static bool in_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    /* no-color.org: any value that is not empty turns colour off. */
    return !(no_color && *no_color) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static const char *word(const json_t *finding, const char *key)
{
    const char *text = json_string_value(json_object_get(finding, key));

    return text ? text : "";
}

static void print_one(const json_t *finding, bool colour)
{
    const char *severity = word(finding, "severity"), *paint = "";

    if (colour)
        paint = severity[0] == 'e'   ? "\033[1;31m"
                : severity[0] == 'w' ? "\033[1;33m"
                : severity[0] == 'o' ? "\033[32m"
                                     : "\033[1m";
    printf("%s%-*s%s%-22s %s\n", paint, INDENT - 1, severity, colour ? "\033[0m " : " ",
           word(finding, "id"), word(finding, "found"));
    if (*word(finding, "cure"))
        printf("%*scure: %s\n", INDENT, "", word(finding, "cure"));
    if (*word(finding, "advice"))
        printf("%*s%s\n", INDENT, "", word(finding, "advice"));
}

void report_print(const struct report *r, bool worse_than_note)
{
    bool colour = in_colour();
    const json_t *finding;
    size_t i;

    json_array_foreach(r->findings, i, finding)
    {
        if (!worse_than_note || strchr("we", word(finding, "severity")[0]))
            print_one(finding, colour);
    }
    if (!worse_than_note)
        printf("\n%u error%s, %u warning%s, %u note%s, %u ok\n", r->count[FOUND_ERROR],
               r->count[FOUND_ERROR] == 1 ? "" : "s", r->count[FOUND_WARNING],
               r->count[FOUND_WARNING] == 1 ? "" : "s", r->count[FOUND_NOTE],
               r->count[FOUND_NOTE] == 1 ? "" : "s", r->count[FOUND_OK]);
}

void report_print_json(const struct report *r, const char *version)
{
    json_t *root = json_pack("{s:i, s:s, s:s, s:{s:i, s:i, s:i, s:i}, s:O}", "schema_version",
                             SCHEMA_VERSION, "version", version, "worst", names[report_worst(r)],
                             "counts", "ok", (int)r->count[FOUND_OK], "note",
                             (int)r->count[FOUND_NOTE], "warning", (int)r->count[FOUND_WARNING],
                             "error", (int)r->count[FOUND_ERROR], "findings", r->findings);

    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}
