/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the TOEHOLD_* variables of the environment. */
#ifndef TOE_CLI_SETTINGS_H
#define TOE_CLI_SETTINGS_H

#include <stdbool.h>

/* Checks all variables. Returns false after a message that names the wrong one. */
bool cli_check_environment(void);

#endif
