/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - log messages, one line each, to standard error. Any thread. */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

void log_msg(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
