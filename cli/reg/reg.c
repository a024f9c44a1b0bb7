/* SPDX-License-Identifier: Apache-2.0 */
/* reg.c - `toehold reg`: lists, reads, writes and watches registers by name or address. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <toe/number.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/verbosity.h"
#include "names.h"
#include "reg.h"
#include "show.h"

static const char usage[] = "list [--bar BAR] [--json] [NAME...]\n"
                            "blocks --bar BAR [--json]\n"
                            "dump --bar BAR [--json] [NAME...]\n"
                            "read --bar BAR [--json] NAME|ADDRESS...\n"
                            "write --bar BAR [--dry-run [--json]] NAME|ADDRESS=VALUE...\n"
                            "watch --bar BAR [--json] [--every-ms N] [--count N] NAME|ADDRESS...";

static const char text[] =
    "BAR is " BAR_SPECS ",\n"
    "followed by @OFFSET where the registers do not begin at 0.\n"
    "A NAME is BLOCK.REGISTER or BLOCK.REGISTER.FIELD; BLOCK may be left out where only one block\n"
    "has the register. NAME[N] is an array element. list and dump take prefixes of names.";

struct request {
    const char *bar;
    bool json, dry_run, help;
    uint64_t every_ms, count; /* count 0: no limit */
    int words;
    char **word;
};

static int wrong_command(void)
{
    cli_message("give list, blocks, dump, read, write or watch; toehold reg --help shows them");
    return CLI_USAGE;
}

static int parse(int argc, char **argv, struct request *r)
{
    const struct cli_option known[] = {
        {"bar", 'b', .text = &r->bar, .value = "BAR", .help = "where the registers are"},
        {"dry-run", 'n', .flag = &r->dry_run, .help = "write: print the changes, do not make them"},
        {"every-ms", .number = &r->every_ms, .min = 1, .max = 3600000, .unit = "milliseconds",
         .help = "watch: pause between reads (1000)"},
        {"count", 'c', .number = &r->count, .min = 1, .max = 1000000000, .help = "watch: N times"},
        {"json", 'j', .flag = &r->json, .help = "as JSON"},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "reg",
        .known = known,
        .mixed = true, /* options may follow names, as in `reg read CTRL --json` */
        .usage = usage,
        .text = text,
        .after = "exit: 1 an access failed, 2 usage, 4 no toed, 7 cannot open the registers, or "
                 "not Toehold's",
        .arguments = "list blocks dump read write watch"};
    int code = cli_options(&options, argc, argv, &r->help);

    r->words = argc - optind;
    r->word = argv + optind;
    return code;
}

/* Opens the window and finds its blocks. Bare addresses need no blocks, so that they work on any
 * device. */
static int open_window(const struct request *r, bool write, bool bare, struct bar *bar,
                       struct blocks *b)
{
    int code;

    if (!r->bar) {
        cli_message("reg: --bar is missing: %s", BAR_SPECS);
        return CLI_USAGE;
    }
    code = bar_open(bar, r->bar, write);
    if (code)
        return code;
    cli_detail("registers of %s%s", r->bar, write ? ", to be written" : "");
    b->count = 0;
    if (bare || blocks_find(bar, b))
        return CLI_OK;
    bar_close(bar);
    return CLI_NO_SOURCE;
}

static int no_words(const struct request *r, const char *command)
{
    cli_message("reg %s: a register is missing; `toehold reg list` shows the names", command);
    return r->words == 0 ? CLI_USAGE : CLI_OK;
}

static bool all_addresses(const struct request *r)
{
    int i;

    for (i = 0; i < r->words; i++)
        if (r->word[i][0] < '0' || r->word[i][0] > '9')
            return false;
    return r->words > 0;
}

/* ---- list, blocks, dump */

/* Returns whether a register is selected: without words every register, else those whose name
 * begins with a word, with or without the name of the block. */
static bool wanted(const struct request *r, const struct block *k, const struct reg_desc *reg)
{
    char full[128];
    int i;

    snprintf(full, sizeof full, "%s.%s", k->name, reg->name);
    for (i = 0; i < r->words; i++) {
        size_t n = strlen(r->word[i]);

        if (!strncasecmp(full, r->word[i], n) || !strncasecmp(reg->name, r->word[i], n))
            return true;
    }
    return r->words == 0;
}

static int list(const struct request *r)
{
    struct blocks b;
    struct bar bar;
    struct show s = show_begin(r->json);
    unsigned i, k, n = 0;

    if (r->bar) {
        int code = open_window(r, false, false, &bar, &b);

        if (code)
            return code;
        bar_close(&bar);
    } else {
        blocks_known(&b);
    }
    for (i = 0; i < b.count; i++)
        for (k = 0; b.block[i].map && k < b.block[i].map->reg_count; k++)
            if (wanted(r, &b.block[i], &b.block[i].map->regs[k])) {
                show_register(&s, &b.block[i], &b.block[i].map->regs[k]);
                n++;
            }
    if (n == 0) {
        cli_message("reg list: no register name begins with the given words");
        show_end(&s);
        return CLI_FAILURE;
    }
    return show_end(&s);
}

static int blocks(const struct request *r)
{
    struct show s = show_begin(r->json);
    struct blocks b;
    struct bar bar;
    unsigned i;
    int code = open_window(r, false, false, &bar, &b);

    if (code)
        return code;
    bar_close(&bar);
    for (i = 0; i < b.count; i++)
        show_block(&s, &b.block[i]);
    return show_end(&s);
}

/* Prints one register, or the elements of an array that are within the window. */
static bool dump_register(struct show *s, struct bar *bar, const struct block *k,
                          const struct reg_desc *reg)
{
    uint32_t i;

    for (i = 0; i < reg->count; i++) {
        struct reg_ref ref = reg_element(k, reg, i);
        uint64_t value;

        if (bar->size != UINT64_MAX && ref.at + ref.width / 8 > bar->size)
            break;
        if (!bar_read(bar, ref.at, ref.width, &value))
            return false;
        show_value(s, &ref, value);
    }
    return true;
}

static int dump(const struct request *r)
{
    struct show s = show_begin(r->json);
    struct blocks b;
    struct bar bar;
    unsigned i, k;
    bool ok = true;
    int code = open_window(r, false, false, &bar, &b);

    if (code)
        return code;
    for (i = 0; ok && i < b.count; i++)
        for (k = 0; ok && b.block[i].map && k < b.block[i].map->reg_count; k++) {
            const struct reg_desc *reg = &b.block[i].map->regs[k];

            if (!wanted(r, &b.block[i], reg) || !reg_readable(reg))
                continue;
            ok = dump_register(&s, &bar, &b.block[i], reg);
        }
    bar_close(&bar);
    code = show_end(&s);
    return ok ? code : CLI_FAILURE;
}

/* ---- read, write, watch */

static bool read_one(struct bar *bar, const struct reg_ref *ref, uint64_t *value)
{
    if (ref->reg && !reg_readable(ref->reg)) {
        cli_message("%s is write-only", ref->name);
        return false;
    }
    if (!bar_read(bar, ref->at, ref->width, value))
        return false;
    if (ref->field)
        *value = field_of(ref->field, *value);
    return true;
}

static int read_them(const struct request *r)
{
    struct show s = show_begin(r->json);
    struct blocks b;
    struct bar bar;
    bool ok = true;
    int i, code;

    if (r->words == 0)
        return no_words(r, "read");
    code = open_window(r, false, all_addresses(r), &bar, &b);
    if (code)
        return code;
    for (i = 0; ok && i < r->words; i++) {
        struct reg_ref ref;
        uint64_t value;

        ok = reg_find(&b, r->word[i], &ref) && read_one(&bar, &ref, &value);
        if (ok)
            show_value(&s, &ref, value);
    }
    bar_close(&bar);
    code = show_end(&s);
    return ok ? code : CLI_FAILURE;
}

struct change {
    struct reg_ref ref;
    uint64_t value;
};

/* "CTRL.enable=1". */
static bool parse_change(const struct blocks *b, const char *word, struct change *c)
{
    const char *equals = strchr(word, '=');
    char name[96], want[TOE_NUMBER_WANT];
    unsigned width;

    if (!equals || (size_t)(equals - word) >= sizeof name) {
        cli_message("reg write: %s: want NAME=VALUE, such as CTRL=1", word);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    if (!toe_number_c(equals + 1, 0, UINT64_MAX, &c->value, want, sizeof want)) {
        cli_message("reg write: %s: %s is not %s", name, equals + 1, want);
        return false;
    }
    if (!reg_find(b, name, &c->ref))
        return false;
    width = c->ref.field ? c->ref.field->width : c->ref.width;
    if (c->value > field_max(width)) {
        cli_message("reg write: %s has %u bits, 0x%" PRIx64 " does not fit", c->ref.name, width,
                    c->value);
        return false;
    }
    if (c->ref.reg && !reg_writable(c->ref.reg)) {
        cli_message("reg write: %s is read-only", c->ref.name);
        return false;
    }
    return true;
}

/* Writes a register; a field by read-modify-write. */
static bool write_one(struct bar *bar, const struct change *c)
{
    uint64_t value = c->value;

    if (c->ref.field) {
        uint64_t now = 0;

        if (reg_readable(c->ref.reg) && !bar_read(bar, c->ref.at, c->ref.width, &now))
            return false;
        value = field_into(c->ref.field, now, c->value);
    }
    return bar_write(bar, c->ref.at, c->ref.width, value);
}

static int write_all(const struct request *r, struct bar *bar, const struct change *changes)
{
    int i;

    for (i = 0; i < r->words; i++)
        if (!write_one(bar, &changes[i]))
            return CLI_FAILURE;
    return CLI_OK;
}

/* Prints what write_all() would change. Does not read at bare addresses: a read may have effects
 * that are not known. */
static int show_all(const struct request *r, struct bar *bar, const struct change *changes)
{
    struct show s = show_begin(r->json);
    bool ok = true;
    int i, code;

    for (i = 0; ok && i < r->words; i++) {
        const struct change *c = &changes[i];
        bool known = c->ref.reg && reg_readable(c->ref.reg);
        uint64_t now = 0;

        ok = !known || read_one(bar, &c->ref, &now);
        if (ok)
            show_plan(&s, &c->ref, known ? &now : NULL, c->value);
    }
    code = show_end(&s);
    return ok ? code : CLI_FAILURE;
}

/* Checks all changes before it makes the first. */
static int write_them(const struct request *r)
{
    struct change *changes = calloc((size_t)r->words + 1, sizeof *changes);
    struct blocks b;
    struct bar bar;
    bool ok = changes != NULL;
    int i, code;

    if (r->words == 0 || !changes) {
        free(changes);
        return no_words(r, "write");
    }
    code = open_window(r, true, all_addresses(r), &bar, &b);
    if (code) {
        free(changes);
        return code;
    }
    for (i = 0; ok && i < r->words; i++)
        ok = parse_change(&b, r->word[i], &changes[i]);
    code = ok ? CLI_OK : CLI_USAGE;
    if (ok)
        code = r->dry_run ? show_all(r, &bar, changes) : write_all(r, &bar, changes);
    bar_close(&bar);
    free(changes);
    return code;
}

static void pause_ms(unsigned long ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

/* Prints each value once, then each change, until --count lines are printed. */
static bool watch_all(const struct request *r, struct bar *bar, struct reg_ref *refs, uint64_t *old)
{
    struct show s = show_begin(r->json);
    unsigned long printed = 0;
    bool first = true;

    s.lines = true;
    for (;; first = false) {
        int i;

        for (i = 0; i < r->words; i++) {
            uint64_t value;

            if (!read_one(bar, &refs[i], &value))
                return false;
            if (!first && value == old[i])
                continue;
            show_change(&s, &refs[i], old[i], value, first);
            old[i] = value;
            if (r->count && ++printed >= r->count)
                return true;
        }
        pause_ms(r->every_ms);
    }
}

static int watch(const struct request *r)
{
    struct reg_ref *refs = calloc((size_t)r->words + 1, sizeof *refs);
    uint64_t *old = calloc((size_t)r->words + 1, sizeof *old);
    struct blocks b;
    struct bar bar;
    bool ok = refs && old;
    int i, code = CLI_FAILURE;

    if (r->words == 0)
        code = no_words(r, "watch");
    else if (ok)
        code = open_window(r, false, all_addresses(r), &bar, &b);
    if (code == CLI_OK) {
        for (i = 0; ok && i < r->words; i++)
            ok = reg_find(&b, r->word[i], &refs[i]);
        ok = ok && watch_all(r, &bar, refs, old);
        bar_close(&bar);
        code = ok ? CLI_OK : CLI_FAILURE;
    }
    free(refs);
    free(old);
    return code;
}

int cli_reg(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct request *r);
    } commands[] = {{"list", list},      {"blocks", blocks},    {"dump", dump},
                    {"read", read_them}, {"write", write_them}, {"watch", watch}};
    struct request r = {.every_ms = 1000};
    int code = parse(argc, argv, &r);
    size_t i;

    if (code || r.help)
        return code;
    if (r.words == 0) {
        cli_message("reg: a command is missing");
        return wrong_command();
    }
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (!strcmp(commands[i].name, r.word[0])) {
            r.words--;
            r.word++;
            if (r.dry_run && commands[i].run != write_them) {
                cli_message("reg: --dry-run is for write; %s changes nothing", commands[i].name);
                return CLI_USAGE;
            }
            return commands[i].run(&r);
        }
    cli_message("reg: unknown command %s", r.word[0]);
    return wrong_command();
}
