/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - reads one file of settings. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <toe/config.h>

/* A value of a file, checked. Returns false to stop, with a message in err. */
typedef bool (*file_take)(void *arg, const struct config_setting *s, const char *text,
                          unsigned line);

/*
 * Calls take() for each setting of the file. Returns 1; 0 when there is no such file; -1 with a
 * message that begins with path and line. Root reads no file that another user may write.
 */
int file_read(const char *path, file_take take, void *arg, char *err, size_t err_size);

#endif
