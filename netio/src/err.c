/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - what every back end needs to refuse with a sentence; part of modules, too.
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
