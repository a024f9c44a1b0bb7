/* SPDX-License-Identifier: Apache-2.0 */
/* options_layers.c - toed's options from files, environment and command line (options_layers.h). */
#include <string.h>

#include <toe/config_layers.h>

#include "options_layers.h"
#include "options_parts.h"
#include "options_values.h"

/* Records which settings the command line gives, and takes the options that are none. */
static int scan(struct options *o, struct config *c, int argc, char **argv)
{
    struct option_found f = {0};
    int at = 1, rc = -1;

    while (at < argc && rc < 0) {
        rc = options_find(o, argc, argv, &at, IN_TOED, &f);
        if (rc < 0 && !f.setting) {
            rc = options_take_plain(o, &f);
        } else if (rc < 0 && !config_give(c, f.setting, f.value)) {
            (void)options_refuse(o, "no memory for the options");
            rc = EXIT_RUNTIME;
        }
    }
    return rc;
}

static int load(const struct options *o, struct config *c)
{
    static const char *const sections[] = {"", "log", "toed", NULL};
    const struct config_source source = {.sections = sections, .file = o->config_file};
    char err[CONFIG_ERROR];

    if (config_load(c, &source, err, sizeof(err)))
        return -1;
    (void)options_refuse(o, "%s", err);
    return EXIT_CONFIG;
}

/* Takes the values that no option of the command line replaces. They have been checked. */
static int take_layers(struct options *o, const struct config *c)
{
    size_t i;
    int rc = -1;

    for (i = 0; i < config_count && rc < 0; i++) {
        const struct config_setting *s = &config_settings[i];
        enum config_layer from = config_layer_of(c, s);

        if (options_is_of(s, IN_TOED) && from != CONFIG_FROM_DEFAULT &&
            from != CONFIG_FROM_COMMAND_LINE)
            rc = options_set(o, s, config_value(c, s));
    }
    return rc;
}

int options_load(struct options *o, struct config *c, int argc, char **argv)
{
    int rc = scan(o, c, argc, argv);

    if (rc < 0)
        rc = load(o, c);
    if (rc < 0)
        rc = options_defaults(o, IN_TOED);
    if (rc < 0)
        rc = take_layers(o, c);
    return rc < 0 ? options_finish(o, argc - 1, argv + 1, IN_TOED) : rc;
}
