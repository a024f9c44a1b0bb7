/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - parses numbers in text, with range, unit and error text, and Ethernet addresses
 * (toe/number.h). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/number.h>

#define DIGITS "0123456789"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool parse_whole(const char *text, int base, uint64_t min, uint64_t max, uint64_t *value,
                        char *want, size_t want_size)
{
    unsigned long long v = 0;
    char *end = NULL;

    /* strtoull() accepts leading blanks and a sign; the first digit excludes both. */
    if (is_digit(text[0])) {
        errno = 0;
        v = strtoull(text, &end, base);
    }
    if (end && !*end && errno == 0 && v >= min && v <= max) {
        *value = v;
        return true;
    }
    if (min == 0 && max == UINT64_MAX)
        snprintf(want, want_size, "a whole number of up to 64 bits");
    else
        snprintf(want, want_size, "a whole number from %llu to %llu", (unsigned long long)min,
                 (unsigned long long)max);
    return false;
}

bool toe_number(const char *text, uint64_t min, uint64_t max, uint64_t *value, char *want,
                size_t want_size)
{
    return parse_whole(text, 10, min, max, value, want, want_size);
}

bool toe_number_c(const char *text, uint64_t min, uint64_t max, uint64_t *value, char *want,
                  size_t want_size)
{
    return parse_whole(text, 0, min, max, value, want, want_size);
}

/* Length of the number at the start of text: digits, fraction, exponent. 0: there is none. */
static size_t number_length(const char *text)
{
    size_t whole = strspn(text, DIGITS), n = whole, fraction = 0, sign, exponent;

    if (text[n] == '.') {
        fraction = strspn(text + n + 1, DIGITS);
        n += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    if (text[n] == 'e' || text[n] == 'E') {
        sign = text[n + 1] == '+' || text[n + 1] == '-';
        exponent = strspn(text + n + 1 + sign, DIGITS);
        if (exponent)
            n += 1 + sign + exponent;
    }
    return n;
}

/* The factor of a unit's name. 0: the unit is unknown. */
static double unit_factor(const struct toe_unit *units, const char *name)
{
    if (!units)
        return *name ? 0 : 1;
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0)
            return units->factor;
    return 0;
}

static void describe_quantity(const struct toe_unit *units, double min, double max, char *want,
                              size_t want_size)
{
    char names[96] = "";
    bool optional = false;
    size_t n = 0;

    for (; units && units->name && n < sizeof(names); units++) {
        if (!*units->name)
            optional = true;
        else
            n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", units->name);
    }
    if (!names[0])
        snprintf(want, want_size, "a number from %g to %g", min, max);
    else
        snprintf(want, want_size, "a number from %g to %g, %s (%s)", min, max,
                 optional ? "alone or with a unit" : "with a unit", names);
}

bool toe_quantity(const char *text, const struct toe_unit *units, double min, double max,
                  double *value, char *want, size_t want_size)
{
    size_t n = number_length(text);
    double v = 0, factor = 0;
    char *end = NULL;

    /* number_length() has excluded what else strtod() accepts: blanks, signs, "inf", "nan", 0x. */
    if (n && text[strspn(text, DIGITS)] != 'x') {
        errno = 0;
        v = strtod(text, &end);
        factor = unit_factor(units, text + n);
    }
    v *= factor;
    if (end == text + n && factor > 0 && errno == 0 && isfinite(v) && v >= min && v <= max) {
        *value = v;
        return true;
    }
    describe_quantity(units, min, max, want, want_size);
    return false;
}

int toe_hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool toe_mac(const char *text, uint8_t mac[6])
{
    uint8_t out[6];
    unsigned i;

    for (i = 0; i < 6; i++, text += 3) {
        int high = toe_hex_digit(text[0]), low = high < 0 ? -1 : toe_hex_digit(text[1]);

        if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(mac, out, sizeof(out));
    return true;
}
