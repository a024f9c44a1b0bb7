/* SPDX-License-Identifier: Apache-2.0 */
/* log_limited.h - rate-limited log messages, for those that programs can cause. Any thread. */
#ifndef ENGINE_LOG_LIMITED_H
#define ENGINE_LOG_LIMITED_H

#include <toe/log.h>

/* Logs at most LOG_LIMIT messages a second, and how many were suppressed. */
#define LOG_LIMIT 100u
void log_limited_at(enum toe_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define log_limited(...)         log_limited_at(TOE_LOG_INFO, __VA_ARGS__)
#define log_limited_warning(...) log_limited_at(TOE_LOG_WARNING, __VA_ARGS__)

#endif
