/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line of a log, for toed and libtoe: level, time and text as the reader of standard
 * error wants them. It writes nothing itself. All functions are thread-safe and take no lock, so
 * that they also work in a child of fork().
 */
#ifndef TOE_LOG_H
#define TOE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of syslog(3). */
enum toe_log_level { TOE_LOG_ERROR = 3, TOE_LOG_WARNING = 4, TOE_LOG_INFO = 6, TOE_LOG_DEBUG = 7 };

enum toe_log_format {
    TOE_LOG_AUTO,   /* journal for the systemd journal, text on a terminal, else plain */
    TOE_LOG_PLAIN,  /* toed: ready */
    TOE_LOG_TEXT,   /* 2026-11-28T23:50:10.123Z info toed: ready */
    TOE_LOG_JSON,   /* {"time":"2026-...","level":"info","program":"toed","message":"ready"} */
    TOE_LOG_JOURNAL /* <6>toed: ready (sd-daemon(3)) */
};

struct toe_log_style {
    enum toe_log_level level; /* the least severe level that is logged */
    enum toe_log_format format;
    bool color; /* of the level in TOE_LOG_TEXT */
};

#define TOE_LOG_LEVEL_ENV  "TOEHOLD_LOG_LEVEL"
#define TOE_LOG_FORMAT_ENV "TOEHOLD_LOG_FORMAT"

/* Parses the name of a level or a format. Returns false, with nothing changed, for others. */
bool toe_log_level(const char *name, enum toe_log_level *level);
bool toe_log_format(const char *name, enum toe_log_format *format);

/*
 * Replaces TOE_LOG_AUTO by what suits the descriptor, and chooses the colour. journal and no_color
 * are the variables JOURNAL_STREAM (systemd.exec(5)) and NO_COLOR; NULL: not set.
 */
void toe_log_choose(struct toe_log_style *style, int fd, const char *journal, const char *no_color);

/* Returns whether fd is the stream that JOURNAL_STREAM names, device:inode. */
bool toe_log_is_journal(int fd, const char *journal);

/*
 * Writes one line with its newline into out, shortened where it does not fit. Control characters
 * are replaced by "?", so that a text cannot forge a line. Returns its length, without a
 * terminating zero; 0 when the style leaves out messages of this level. size is at least 256.
 */
size_t toe_log_line(char *out, size_t size, const struct toe_log_style *style,
                    enum toe_log_level level, const char *program, const struct timespec *now,
                    const char *message);

#ifdef __cplusplus
}
#endif

#endif
