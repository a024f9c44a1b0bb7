/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - one line of a log (toe/log.h). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <toe/log.h>

#define STAMP_SIZE 40 /* 2026-11-28T23:50:10.123Z */

static const struct {
    const char *name, *color;
    enum toe_log_level level;
} levels[] = {{"error", "\033[31m", TOE_LOG_ERROR},
              {"warning", "\033[33m", TOE_LOG_WARNING},
              {"info", "", TOE_LOG_INFO},
              {"debug", "", TOE_LOG_DEBUG}};

bool toe_log_level(const char *name, enum toe_log_level *level)
{
    size_t i;

    for (i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(name, levels[i].name) == 0) {
            *level = levels[i].level;
            return true;
        }
    return false;
}

bool toe_log_format(const char *name, enum toe_log_format *format)
{
    static const char *const names[] = {"auto", "plain", "text", "json", "journal"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *format = (enum toe_log_format)i;
            return true;
        }
    return false;
}

bool toe_log_is_journal(int fd, const char *journal)
{
    unsigned long long dev, ino;
    struct stat st;

    return journal && fstat(fd, &st) == 0 && sscanf(journal, "%llu:%llu", &dev, &ino) == 2 &&
           dev == st.st_dev && ino == st.st_ino;
}

void toe_log_choose(struct toe_log_style *style, int fd, const char *journal, const char *no_color)
{
    bool terminal = isatty(fd);

    if (style->format == TOE_LOG_AUTO)
        style->format = toe_log_is_journal(fd, journal) ? TOE_LOG_JOURNAL
                        : terminal                      ? TOE_LOG_TEXT
                                                        : TOE_LOG_PLAIN;
    style->color = terminal && !(no_color && *no_color);
}

/* ---- the parts of a line ---- */

struct line {
    char *out;
    size_t at, size; /* size leaves room for the end of the line */
};

static void put(struct line *l, const char *text)
{
    size_t n = strlen(text), room = l->size - l->at;

    if (n > room)
        n = room;
    memcpy(l->out + l->at, text, n);
    l->at += n;
}

/* Writes the time in UTC (ISO 8601). Not by gmtime_r(), which takes a lock that a child of fork()
 * may find held. The date by H. Hinnant's days-to-civil algorithm: years begin in March. */
static void stamp(const struct timespec *now, char out[STAMP_SIZE])
{
    int64_t days = now->tv_sec / 86400, second = now->tv_sec % 86400;
    int64_t z = days + 719468, era = z / 146097, day = z % 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;

    snprintf(out, STAMP_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
             (int)(year + era * 400 + (month >= 10)), (int)(month < 10 ? month + 3 : month - 9),
             (int)(of_year - (153 * month + 2) / 5 + 1), (int)(second / 3600),
             (int)(second / 60 % 60), (int)(second % 60), (int)(now->tv_nsec / 1000000));
}

static void put_printable(struct line *l, const char *text)
{
    for (; *text && l->at < l->size; text++)
        l->out[l->at++] = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
}

/* Returns the length of the UTF-8 sequence at text; 0: it is none (RFC 3629 3). */
static size_t sequence(const unsigned char *text)
{
    size_t n = text[0] < 0x80   ? 1
               : text[0] < 0xc2 ? 0
               : text[0] < 0xe0 ? 2
               : text[0] < 0xf0 ? 3
               : text[0] < 0xf5 ? 4
                                : 0;
    size_t i;

    for (i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] >= 0xa0) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] >= 0x90))
        return 0;
    return n;
}

/* Writes a JSON string without its quotes (RFC 8259 7); bytes that are not UTF-8 become U+FFFD. */
static void put_json(struct line *l, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    char part[8];

    while (*c) {
        size_t n = sequence(c);

        if (n == 0 || *c < 0x20)
            snprintf(part, sizeof part, "\\u%04x", n == 0 ? 0xfffdu : *c);
        else if (*c == '"' || *c == '\\')
            snprintf(part, sizeof part, "\\%c", *c);
        else
            snprintf(part, sizeof part, "%.*s", (int)n, (const char *)c);
        if (strlen(part) > l->size - l->at)
            return; /* half of an escape would not be JSON */
        put(l, part);
        c += n ? n : 1;
    }
}

size_t toe_log_line(char *out, size_t size, const struct toe_log_style *style,
                    enum toe_log_level level, const char *program, const struct timespec *now,
                    const char *message)
{
    struct line l = {out, 0, size - 3}; /* quote, brace, newline */
    char time[STAMP_SIZE], head[128];
    size_t i = 0;

    if (level > style->level)
        return 0;
    while (levels[i].level != level)
        i++;
    stamp(now, time);
    if (style->format == TOE_LOG_JSON) {
        snprintf(head, sizeof head,
                 "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%.16s\",\"message\":\"", time,
                 levels[i].name, program);
        put(&l, head);
        put_json(&l, message);
        l.size = size; /* the end always fits */
        put(&l, "\"}\n");
        return l.at;
    }
    head[0] = '\0';
    if (style->format == TOE_LOG_JOURNAL)
        snprintf(head, sizeof head, "<%d>", (int)level);
    else if (style->format == TOE_LOG_TEXT)
        snprintf(head, sizeof head, "%s %s%s%s ", time, style->color ? levels[i].color : "",
                 levels[i].name, style->color && *levels[i].color ? "\033[0m" : "");
    put(&l, head);
    put(&l, program);
    put(&l, ": ");
    put_printable(&l, message);
    out[l.at++] = '\n';
    return l.at;
}
