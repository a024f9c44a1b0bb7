/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - messages for people, one line each, to standard error. Any thread. */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

/* What programs may cause as often as they like: so many a second, and how many were left out. */
#define LOG_OFTEN 100u
void log_often(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_msg(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
