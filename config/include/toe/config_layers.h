/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_layers.h - the values of all settings and where each comes from. Later layers win:
 * defaults, profile, /etc/toehold/toehold.toml, the user's toehold.toml, environment, command line.
 *
 * An object belongs to its caller and is used by one thread at a time. Texts that it returns live
 * until config_free(), or until config_copy() replaces their setting.
 */
#ifndef TOE_CONFIG_LAYERS_H
#define TOE_CONFIG_LAYERS_H

#include <toe/config.h>

#define CONFIG_SYSTEM_FILE "/etc/toehold/toehold.toml"
#define CONFIG_FILE_ENV    "TOEHOLD_CONFIG" /* this file alone; empty: no file */
#define CONFIG_ERROR       512              /* size of a buffer that holds any message */

enum config_layer {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_PROFILE,
    CONFIG_FROM_FILE,
    CONFIG_FROM_ENVIRONMENT,
    CONFIG_FROM_COMMAND_LINE
};

struct config;

/* What to read. */
struct config_source {
    const char *const *sections; /* whose variables are read, ends with NULL; NULL: all. Files are
                                  * checked as a whole. */
    const char *file;            /* from --config: this file alone; "": no file; NULL: see below */
    const char *system_file;     /* NULL: CONFIG_SYSTEM_FILE */
};

/* Makes an object in which every setting has its default. NULL: no memory. */
struct config *config_new(void);
void config_free(struct config *c);

/* Records a value of the command line, which the caller has checked or will check. Returns false
 * when there is no memory. */
bool config_give(struct config *c, const struct config_setting *s, const char *text);

/*
 * Reads the files, the environment and the profile that they or the command line choose. Files are
 * that of `source`, else that of $TOEHOLD_CONFIG, else CONFIG_SYSTEM_FILE and
 * $XDG_CONFIG_HOME/toehold/toehold.toml (default ~/.config), which need not exist; the home of
 * another user does not count. Root rejects a file that another user may write. Returns false with
 * a message that names file and line, or the variable.
 */
bool config_load(struct config *c, const struct config_source *source, char *err, size_t err_size);

/* Checks one file alone. Returns false with a message. */
bool config_check_file(const char *path, char *err, size_t err_size);

/* Returns the value of a setting; NULL: it has none. */
const char *config_value(const struct config *c, const struct config_setting *s);
/* The same by name. */
const char *config_text(const struct config *c, const char *section, const char *name);
enum config_layer config_layer_of(const struct config *c, const struct config_setting *s);

/* Writes where the value comes from: "default", "profile nginx", "/etc/toehold/toehold.toml:12",
 * "TOEHOLD_SOCKET", "command line". Returns out. */
const char *config_origin(const struct config *c, const struct config_setting *s, char *out,
                          size_t size);

/* Returns the files that were read, in order, and NULL. */
const char *const *config_files(const struct config *c);

/* Copies the value of one setting and its origin. Returns false when there is no memory. */
bool config_copy(struct config *to, const struct config *from, const struct config_setting *s);

#endif
