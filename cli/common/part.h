/* SPDX-License-Identifier: Apache-2.0 */
/* part.h - the other files of Toehold: programs and libraries that `toehold` starts or loads. */
#ifndef TOE_CLI_PART_H
#define TOE_CLI_PART_H

#include <stdbool.h>

/*
 * Finds a file of Toehold: the one that the environment variable names, else the one beside this
 * program, in the folder in_tree of its build tree ("../x/"), or in the installed folder. Returns
 * false after a message. path has PATH_MAX bytes.
 */
bool cli_find_part(const char *file, const char *in_tree, const char *installed,
                   const char *variable, char *path);

/* The same without the variable, and without a message. */
bool cli_find_beside(const char *file, const char *in_tree, const char *installed, char *path);

#endif
