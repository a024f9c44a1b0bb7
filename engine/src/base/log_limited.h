/* SPDX-License-Identifier: Apache-2.0 */
/* log_limited.h - rate-limited log messages, for those that programs can cause. Any thread. */
#ifndef ENGINE_LOG_LIMITED_H
#define ENGINE_LOG_LIMITED_H

/* Logs at most LOG_LIMIT messages a second, and how many were suppressed. */
#define LOG_LIMIT 100u
void log_limited(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
