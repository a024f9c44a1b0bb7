/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - log messages, one line each, to standard error. Any thread. */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include <toe/log.h>

/* Sets level and format (toe/log.h). TOE_LOG_AUTO is replaced by what suits standard error. */
void log_style(enum toe_log_level level, enum toe_log_format format);

/* Logs "toed: ..." unless the level is left out. */
void log_at(enum toe_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_at(TOE_LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(TOE_LOG_WARNING, __VA_ARGS__)
#define log_msg(...)     log_at(TOE_LOG_INFO, __VA_ARGS__)

#endif
