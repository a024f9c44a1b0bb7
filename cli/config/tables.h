/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - the table of settings and the profiles, printed. All return an exit code. */
#ifndef TOE_CLI_CONFIG_TABLES_H
#define TOE_CLI_CONFIG_TABLES_H

/* Print the profiles with what they set. */
int config_profiles_text(void);
int config_profiles_json(void);
/* Print all settings: in columns, as JSON, as the tables of docs/CONFIG.md. */
int config_list(void);
int config_settings_json(void);
int config_markdown(void);
/* Prints a file with every setting as a comment. */
int config_example(void);

#endif
