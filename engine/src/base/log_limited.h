/* SPDX-License-Identifier: Apache-2.0 */
/* log_limited.h - messages that programs cause, a bounded number of them. Any thread. */
#ifndef ENGINE_LOG_LIMITED_H
#define ENGINE_LOG_LIMITED_H

/* What programs may cause as often as they like: so many a second, and how many were left out. */
#define LOG_LIMIT 100u
void log_limited(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
