/* SPDX-License-Identifier: Apache-2.0 */
/* options_values.h - the values of options, one by one. */
#ifndef ENGINE_OPTIONS_VALUES_H
#define ENGINE_OPTIONS_VALUES_H

#include <toe/config.h>

#include "options.h"

/* Writes an error message to o->err, or to standard error. Returns EXIT_USAGE. */
int options_refuse(const struct options *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the field of a setting of toed or of an engine within a program; text must live as long as
 * *o. Returns -1, or an exit code after a message. */
int options_set(struct options *o, const struct config_setting *s, const char *text);

#endif
