/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - the samples one by one as CSV. */
#ifndef TOE_CLI_CSV_H
#define TOE_CLI_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

/* Writes the file. Returns false with the reason in `why`. */
bool csv_write(const struct result *r, const char *path, char *why, size_t size);

#endif
