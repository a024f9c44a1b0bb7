/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - the error text of every back end; also linked into modules.
 */
#include <stdarg.h>
#include <stdio.h>

#include "backend.h"

void netio_err_set(const struct netio_err *err, const char *format, ...)
{
    va_list args;

    if (!err->text || !err->size)
        return;
    va_start(args, format);
    vsnprintf(err->text, err->size, format, args);
    va_end(args);
}
