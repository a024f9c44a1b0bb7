/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - the values of settings, for `toehold config show`. All return an exit code. */
#ifndef TOE_CLI_CONFIG_PRINT_H
#define TOE_CLI_CONFIG_PRINT_H

#include <stdbool.h>

#include <toe/config_layers.h>

/* Prints the settings as a file of settings. origin: with their origins as comments; all: also
 * settings without a value, as comments. */
int config_print_toml(const struct config *c, bool origin, bool all);
/* Prints the same as JSON, always with origins. */
int config_print_json(const struct config *c, bool all);

/* Writes a value as a file of settings has it. Returns out. */
const char *config_toml(const struct config_setting *s, const char *value, char *out, size_t size);
#define CONFIG_TOML 4200 /* size of a buffer that holds a path in quotes */

#endif
