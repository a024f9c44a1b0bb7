/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - reads the small files of /proc and /sys. */
#ifndef TOE_CLI_DOCTOR_FILE_H
#define TOE_CLI_DOCTOR_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the first line, without its end, into text. Returns false with errno. */
bool file_line(const char *path, char *text, size_t size);

/* Reads a whole number. Returns false when the file is missing or begins with something else. */
bool file_number(const char *path, long long *value);

#endif
