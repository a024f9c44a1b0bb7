/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - the name that a user may have meant (toe/config.h). */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <toe/config.h>

#define LONGEST 64 /* characters that are compared */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Counts the letters to insert, delete, replace or swap (optimal string alignment distance). */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2], *free_row;
    size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST), i, j;

    for (j = 0; j <= m; j++)
        before[j] = last[j] = (unsigned)j;
    for (i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (j = 1; j <= m; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[m];
}

bool config_closer(const char *word, const char *a, const char *b)
{
    return !b || distance(word, a) < distance(word, b);
}

/* "spin" means spin-us, not ip. */
static bool is_beginning(const char *word, const char *name)
{
    size_t n = strlen(word);

    return n >= 3 && strncmp(name, word, n) == 0 && name[n];
}

/* A key that is right in another section is the likeliest mistake; then a wrong letter in this
 * section; then one in another. */
const struct config_setting *config_nearest(const char *section, const char *name)
{
    const struct config_setting *best = NULL;
    unsigned found = UINT_MAX, d;
    size_t i;

    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        if (s->only_flag)
            continue;
        d = 4 * (is_beginning(name, s->name) ? 1 : distance(name, s->name));
        if (strcmp(section, s->section) != 0)
            d += 3;
        if (d < found) {
            found = d;
            best = s;
        }
    }
    return best;
}

const char *config_nearest_section(const char *section)
{
    const char *best = NULL;
    size_t i;

    for (i = 0; i < config_count; i++)
        if (*config_settings[i].section && config_closer(section, config_settings[i].section, best))
            best = config_settings[i].section;
    return best;
}
