/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - parses the numbers and Ethernet addresses that users write in options, environment
 * variables and interface specifications. Every program of Toehold accepts the same numbers and
 * rejects the same mistakes.
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

#ifdef __cplusplus
extern "C" {
#endif

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

/* Returns the value of a hexadecimal digit, or -1. */
int toe_hex_digit(char c);

/* Parses an Ethernet address such as 02:00:00:00:00:0a, with two digits per byte. */
bool toe_mac(const char *text, uint8_t mac[6]);

#ifdef __cplusplus
}
#endif

#endif
