/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - see file.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

bool file_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    bool has = f && fgets(text, (int)size, f);

    if (f)
        fclose(f);
    if (!has)
        return false;
    text[strcspn(text, "\n")] = '\0';
    return true;
}

bool file_number(const char *path, long long *value)
{
    char text[64], *end;
    long long v;

    if (!file_line(path, text, sizeof text))
        return false;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno || end == text || (*end && *end != ' ' && *end != '\t'))
        return false;
    *value = v;
    return true;
}
