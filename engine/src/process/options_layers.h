/* SPDX-License-Identifier: Apache-2.0 */
/* options_layers.h - toed's options from files, environment and command line. */
#ifndef ENGINE_OPTIONS_LAYERS_H
#define ENGINE_OPTIONS_LAYERS_H

#include "options.h"

struct config;

/*
 * Parses the command line over the files, the environment and the profile (toe/config_layers.h). *o
 * is zeroed except for err; c is new, and must live as long as *o. Returns -1 to continue, or the
 * exit code after --help, --version or an error message: EXIT_USAGE for the command line,
 * EXIT_CONFIG for the other layers.
 */
int options_load(struct options *o, struct config *c, int argc, char **argv);

#endif
