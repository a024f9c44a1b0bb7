/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - text to number, strictly (toe/number.h). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include <toe/number.h>

bool toe_number(const char *text, int base, uint64_t *out)
{
    int saved = errno;
    bool ok;
    char *end;
    uint64_t v;

    /* strtoull() skips blanks and takes a sign */
    if (!(base == 16 ? isxdigit((unsigned char)*text) : isdigit((unsigned char)*text)))
        return false;
    errno = 0;
    v = strtoull(text, &end, base);
    ok = !errno && !*end;
    errno = saved;
    if (ok)
        *out = v;
    return ok;
}
