/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - `toehold config`: shows and checks the settings (toe/config_layers.h). */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <toe/config_layers.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/verbosity.h"
#include "config.h"
#include "print.h"
#include "tables.h"

static const char usage[] = "show [--origin] [--all] [--json] [--config FILE | --no-config]\n"
                            "     [--profile NAME]\n"
                            "get NAME [--config FILE | --no-config] [--profile NAME]\n"
                            "check [FILE...]\n"
                            "profiles [--json]\n"
                            "settings [--json | --markdown]\n"
                            "example";

static const char text[] =
    "show      prints the settings that toed and toehold run would use, as a file of settings\n"
    "get       prints one value, such as toed.netif; exit 1: it has none\n"
    "check     reads files and reports the first mistake of each (default: the files that count)\n"
    "profiles  lists the profiles and what they set\n"
    "settings  lists all settings: type, default, option, variable, when a change applies\n"
    "example   prints a file with all settings as comments";

static const char after[] =
    "Files: " CONFIG_SYSTEM_FILE ", then ~/.config/toehold/toehold.toml;\n"
    "$TOEHOLD_CONFIG names another, alone. Variables and options win over files.\n"
    "exit: 0, 1 no value, 2 usage, 3 a file or variable is wrong";

struct config_options {
    bool origin, all, json, markdown, no_config;
    const char *file, *profile;
};

/* Reads all layers. NULL after a message. */
static struct config *load(const struct config_options *o)
{
    const struct config_source source = {.file = o->no_config ? "" : o->file};
    const struct config_setting *profile = config_find("", "profile");
    struct config *c = config_new();
    char err[CONFIG_ERROR] = "no memory for the settings", want[CONFIG_WANT];
    const char *const *file;

    if (c && o->profile && !config_accepts(profile, o->profile, want, sizeof want))
        snprintf(err, sizeof err, "--profile %s: want %s", o->profile, want);
    else if (c && (!o->profile || config_give(c, profile, o->profile)) &&
             config_load(c, &source, err, sizeof err)) {
        for (file = config_files(c); *file; file++)
            cli_detail("settings of %s", *file);
        return c;
    }
    cli_message("%s", err);
    config_free(c);
    return NULL;
}

static int show(const struct config_options *o, int count, char **words)
{
    struct config *c;
    int code;

    if (count > 0) {
        cli_message("config show: unexpected argument %s", words[0]);
        return CLI_USAGE;
    }
    c = load(o);
    if (!c)
        return CLI_CONFIG;
    code = o->json ? config_print_json(c, o->all) : config_print_toml(c, o->origin, o->all);
    config_free(c);
    return code;
}

/* Returns the setting of a full name. */
static const struct config_setting *by_full_name(const char *name)
{
    char full[CONFIG_NAME];
    size_t i;

    for (i = 0; i < config_count; i++)
        if (!config_settings[i].only_flag &&
            strcmp(config_full_name(&config_settings[i], full, sizeof full), name) == 0)
            return &config_settings[i];
    return NULL;
}

static int unknown_setting(const char *name)
{
    char section[CONFIG_NAME] = "", nearest[CONFIG_NAME];
    const char *dot = strchr(name, '.');

    if (dot)
        snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
    config_full_name(config_nearest(section, dot ? dot + 1 : name), nearest, sizeof nearest);
    cli_message("config get: there is no setting %s; the nearest is %s", name, nearest);
    return CLI_USAGE;
}

static int get(const struct config_options *o, int count, char **words)
{
    const struct config_setting *s = count > 0 ? by_full_name(words[0]) : NULL;
    const char *value;
    struct config *c;
    int code = CLI_OK;

    if (count != 1) {
        cli_message("config get: give one setting, such as toed.netif");
        return CLI_USAGE;
    }
    if (!s)
        return unknown_setting(words[0]);
    c = load(o);
    if (!c)
        return CLI_CONFIG;
    value = config_value(c, s);
    if (value)
        puts(value);
    else
        code = CLI_FAILURE;
    config_free(c);
    return code;
}

/* The files that count, and the variables with them. */
static int check_all(const struct config_options *o)
{
    struct config *c = load(o);
    const char *const *file;

    if (!c)
        return CLI_CONFIG;
    for (file = config_files(c); *file; file++)
        printf("%s: valid\n", *file);
    if (!config_files(c)[0])
        cli_message("config check: there is no file of settings, such as " CONFIG_SYSTEM_FILE);
    config_free(c);
    return CLI_OK;
}

static int check(const struct config_options *o, int count, char **words)
{
    char err[CONFIG_ERROR];
    int i, code = CLI_OK;

    if (count == 0)
        return check_all(o);
    for (i = 0; i < count; i++) {
        if (config_check_file(words[i], err, sizeof err)) {
            printf("%s: valid\n", words[i]);
        } else {
            cli_message("%s", err);
            code = CLI_CONFIG;
        }
    }
    return code;
}

static int profiles(const struct config_options *o, int count, char **words)
{
    (void)count;
    (void)words;
    return o->json ? config_profiles_json() : config_profiles_text();
}

static int settings(const struct config_options *o, int count, char **words)
{
    (void)count;
    (void)words;
    return o->json ? config_settings_json() : o->markdown ? config_markdown() : config_list();
}

static int example(const struct config_options *o, int count, char **words)
{
    (void)o;
    (void)count;
    (void)words;
    return config_example();
}

/* The options that a subcommand has. */
enum { O_LAYERS = 1, O_SHOW = 2, O_JSON = 4, O_MARKDOWN = 8 };

static const struct subcommand {
    const char *name;
    int (*run)(const struct config_options *o, int count, char **words);
    unsigned options;
    bool words; /* other words may follow */
} subcommands[] = {{"show", show, O_LAYERS | O_SHOW | O_JSON, false},
                   {"get", get, O_LAYERS, true},
                   {"check", check, 0, true},
                   {"profiles", profiles, O_JSON, false},
                   {"settings", settings, O_JSON | O_MARKDOWN, false},
                   {"example", example, 0, false}};

/* Fills the table of options of a subcommand. */
static void describe(unsigned has, struct config_options *o, struct cli_option *known)
{
    const struct {
        unsigned of;
        struct cli_option option;
    } all[] = {
        {O_LAYERS, {"config", .text = &o->file, .value = "FILE", .help = "read this file alone"}},
        {O_LAYERS, {"no-config", .flag = &o->no_config, .help = "read no file"}},
        {O_LAYERS,
         {"profile", .text = &o->profile, .value = "NAME",
          .help = "show, get: as if the profile were chosen"}},
        {O_SHOW,
         {"origin", .flag = &o->origin,
          .help = "show: where each comes from: file and line, variable,\nprofile, default"}},
        {O_SHOW, {"all", 'a', .flag = &o->all, .help = "show: also settings without a value"}},
        {O_JSON, {"json", 'j', .flag = &o->json, .help = "as JSON"}},
        {O_MARKDOWN, {"markdown", .flag = &o->markdown, .help = "settings: as tables of a page"}}};
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].of & has)
            *known++ = all[i].option;
    *known = (struct cli_option){.name = NULL};
}

/* Parses the options of a subcommand, or all of them. Returns an exit code. */
static int parse(unsigned has, struct config_options *o, int argc, char **argv, bool *help)
{
    struct cli_option known[8];
    const struct cli_options options = {.verb = "config",
                                        .known = known,
                                        .mixed = true,
                                        .usage = usage,
                                        .text = text,
                                        .after = after,
                                        .arguments = "show get check profiles settings example"};

    describe(has, o, known);
    return cli_options(&options, argc, argv, help);
}

static int run(const struct subcommand *s, int argc, char **argv)
{
    struct config_options o = {0};
    bool help;
    int code = parse(s->options, &o, argc, argv, &help);

    if (code || help)
        return code;
    if (!s->words && optind < argc) {
        cli_message("config %s: unexpected argument %s", s->name, argv[optind]);
        return CLI_USAGE;
    }
    return s->run(&o, argc - optind, argv + optind);
}

int cli_config(int argc, char **argv)
{
    struct config_options o = {0};
    bool help;
    size_t i;
    int code;

    for (i = 0; argc > 1 && i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return run(&subcommands[i], argc - 1, argv + 1);
    code = parse(O_LAYERS | O_SHOW | O_JSON | O_MARKDOWN, &o, argc, argv, &help);
    if (code || help)
        return code;
    if (optind < argc)
        cli_message("config: unknown subcommand %s", argv[optind]);
    cli_message("config: give show, get, check, profiles, settings or example; toehold config "
                "--help shows them");
    return CLI_USAGE;
}
