/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages to the user on standard error (log.c). */
#ifndef LIBTOE_LOG_H
#define LIBTOE_LOG_H

#include "libtoe.h"

/* Prints a warning as one line on standard error, "toehold: ...", at most once per process for the
 * same `fmt`. Nothing where standard error is a socket other than the journal's. */
TOE_HIDDEN void tlog_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, each time. */
TOE_HIDDEN void tlog(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints what is no warning. */
TOE_HIDDEN void tlog_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Returns true at the first call with this key, the address of a string constant. */
TOE_HIDDEN bool tlog_first(const char *key);

#endif
