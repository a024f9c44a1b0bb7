/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - parses the numbers that users write in options, environment variables and interface
 * specifications. Every program of Toehold accepts the same numbers and rejects the same mistakes.
 *
 * No function accepts a sign, a blank before or after the number, or an empty text. On success
 * *value holds the number. On failure *value is unchanged, and `want` describes what is accepted as
 * a noun phrase for an error message ("a whole number from 1 to 64"). want may be NULL with
 * want_size 0. All functions are thread-safe; they change errno.
 */
#ifndef TOE_NUMBER_H
#define TOE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a buffer that holds the longest `want` of a whole number. */
#define TOE_NUMBER_WANT 80

/* Parses a decimal whole number within [min, max]. */
bool toe_number(const char *text, uint64_t min, uint64_t max, uint64_t *value, char *want,
                size_t want_size);

/* Parses a whole number within [min, max] as C writes it: decimal, 0x... hexadecimal, 0... octal.
 */
bool toe_number_c(const char *text, uint64_t min, uint64_t max, uint64_t *value, char *want,
                  size_t want_size);

/* A unit and the factor that converts a number in it to the unit of the result. */
struct toe_unit {
    const char *name; /* "" allows a number without a unit; NULL ends the list */
    double factor;
};

/*
 * Parses a decimal number with an optional fraction and exponent ("2.5e3"), followed by one of
 * `units` (NULL: no unit may follow). The range [min, max] applies after the conversion.
 */
bool toe_quantity(const char *text, const struct toe_unit *units, double min, double max,
                  double *value, char *want, size_t want_size);

#endif
