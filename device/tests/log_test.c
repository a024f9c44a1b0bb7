/* SPDX-License-Identifier: Apache-2.0 */
/* log_test.c - the lines of a log in each format (toe/log.h). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <toe/log.h>

/* 2026-11-28T23:50:10.123Z */
static const struct timespec then = {1795909810, 123456789};

static void assert_line(enum toe_log_format format, bool color, enum toe_log_level level,
                        const char *message, const char *expected)
{
    const struct toe_log_style style = {TOE_LOG_DEBUG, format, color};
    char line[512];
    size_t n = toe_log_line(line, sizeof line, &style, level, "toed", &then, message);

    assert_true(n < sizeof line);
    line[n] = '\0';
    assert_string_equal(line, expected);
}

static void test_formats(void **state)
{
    (void)state;
    assert_line(TOE_LOG_PLAIN, false, TOE_LOG_ERROR, "no memory", "toed: no memory\n");
    assert_line(TOE_LOG_TEXT, false, TOE_LOG_INFO, "ready",
                "2026-11-28T23:50:10.123Z info toed: ready\n");
    assert_line(TOE_LOG_TEXT, true, TOE_LOG_WARNING, "x",
                "2026-11-28T23:50:10.123Z \033[33mwarning\033[0m toed: x\n");
    assert_line(TOE_LOG_TEXT, true, TOE_LOG_INFO, "x", "2026-11-28T23:50:10.123Z info toed: x\n");
    assert_line(TOE_LOG_JOURNAL, false, TOE_LOG_ERROR, "x", "<3>toed: x\n");
    assert_line(TOE_LOG_JOURNAL, false, TOE_LOG_DEBUG, "x", "<7>toed: x\n");
    assert_line(TOE_LOG_JSON, false, TOE_LOG_INFO, "ready",
                "{\"time\":\"2026-11-28T23:50:10.123Z\",\"level\":\"info\",\"program\":\"toed\","
                "\"message\":\"ready\"}\n");
}

static void test_a_message_cannot_forge_a_line(void **state)
{
    (void)state;
    assert_line(TOE_LOG_PLAIN, false, TOE_LOG_INFO, "a\ntoed: b\033[1m\x7f",
                "toed: a?toed: b?[1m?\n");
}

static void test_json_is_json(void **state)
{
#define HEAD                                                                                       \
    "{\"time\":\"2026-11-28T23:50:10.123Z\",\"level\":\"info\",\"program\":\"toed\",\"message\":"  \
    "\""
    (void)state;
    assert_line(TOE_LOG_JSON, false, TOE_LOG_INFO, "a\"b\\c\nd", HEAD "a\\\"b\\\\c\\u000ad\"}\n");
    assert_line(TOE_LOG_JSON, false, TOE_LOG_INFO, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                HEAD "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"}\n");
    /* a lone continuation, an overlong form, a surrogate, one beyond Unicode, a cut sequence */
    assert_line(TOE_LOG_JSON, false, TOE_LOG_INFO, "\x80|\xc0\xaf|\xed\xa0\x80|\xf5|\xe2\x82",
                HEAD "\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd|\\ufffd\\ufffd\"}\n");
}

static void test_long_messages_are_cut(void **state)
{
    const struct toe_log_style json = {TOE_LOG_INFO, TOE_LOG_JSON, false},
                               plain = {TOE_LOG_INFO, TOE_LOG_PLAIN, false};
    char line[256], text[1000];
    size_t n;

    (void)state;
    memset(text, '"', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    n = toe_log_line(line, sizeof line, &json, TOE_LOG_INFO, "toed", &then, text);
    assert_in_range(n, sizeof line - 3, sizeof line);
    assert_memory_equal(line + n - 5, "\\\"\"}\n", 5); /* no half of an escape */
    n = toe_log_line(line, sizeof line, &plain, TOE_LOG_INFO, "toed", &then, text);
    assert_in_range(n, sizeof line - 3, sizeof line);
    assert_int_equal(line[n - 1], '\n');
}

static void test_levels_are_left_out(void **state)
{
    struct toe_log_style style = {TOE_LOG_WARNING, TOE_LOG_PLAIN, false};
    char line[256];

    (void)state;
    assert_int_equal(toe_log_line(line, sizeof line, &style, TOE_LOG_INFO, "t", &then, "x"), 0);
    assert_int_equal(toe_log_line(line, sizeof line, &style, TOE_LOG_WARNING, "t", &then, "x"), 5);
    assert_int_equal(toe_log_line(line, sizeof line, &style, TOE_LOG_ERROR, "t", &then, "x"), 5);
}

static void test_names(void **state)
{
    enum toe_log_level level = TOE_LOG_INFO;
    enum toe_log_format format = TOE_LOG_AUTO;

    (void)state;
    assert_true(toe_log_level("error", &level));
    assert_int_equal(level, TOE_LOG_ERROR);
    assert_false(toe_log_level("err", &level));
    assert_int_equal(level, TOE_LOG_ERROR);
    assert_true(toe_log_format("json", &format));
    assert_int_equal(format, TOE_LOG_JSON);
    assert_false(toe_log_format("xml", &format));
    assert_int_equal(format, TOE_LOG_JSON);
}

static void test_dates(void **state)
{
    static const struct {
        long long seconds;
        const char *date;
    } cases[] = {{0, "1970-01-01T00:00:00.000Z"},          {951782399, "2000-02-28T23:59:59.000Z"},
                 {951782400, "2000-02-29T00:00:00.000Z"},  {951868800, "2000-03-01T00:00:00.000Z"},
                 {1709164800, "2024-02-29T00:00:00.000Z"}, {1767225599, "2025-12-31T23:59:59.000Z"},
                 {4107542400, "2100-03-01T00:00:00.000Z"}};
    const struct toe_log_style style = {TOE_LOG_INFO, TOE_LOG_TEXT, false};
    char line[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct timespec at = {cases[i].seconds, 0};

        toe_log_line(line, sizeof line, &style, TOE_LOG_INFO, "toed", &at, "x");
        line[strlen(cases[i].date)] = '\0';
        assert_string_equal(line, cases[i].date);
    }
}

/* The format and colour of TOE_LOG_AUTO for a descriptor. */
static struct toe_log_style chosen(int fd, const char *journal, const char *no_color)
{
    struct toe_log_style style = {TOE_LOG_INFO, TOE_LOG_AUTO, false};

    toe_log_choose(&style, fd, journal, no_color);
    return style;
}

static void test_the_format_follows_the_descriptor(void **state)
{
    int terminal, other, pair[2], file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char journal[64];
    struct stat st;

    (void)state;
    assert_int_equal(openpty(&other, &terminal, NULL, NULL, NULL), 0);
    assert_int_equal(chosen(terminal, NULL, NULL).format, TOE_LOG_TEXT);
    assert_true(chosen(terminal, NULL, NULL).color);
    assert_true(chosen(terminal, NULL, "").color);
    assert_false(chosen(terminal, NULL, "1").color);
    assert_int_equal(chosen(file, NULL, NULL).format, TOE_LOG_PLAIN);
    assert_false(chosen(file, NULL, NULL).color);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(fstat(pair[0], &st), 0);
    snprintf(journal, sizeof journal, "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    assert_int_equal(chosen(pair[0], journal, NULL).format, TOE_LOG_JOURNAL);
    assert_int_equal(chosen(pair[1], journal, NULL).format, TOE_LOG_PLAIN);
    assert_int_equal(chosen(pair[0], "1:x", NULL).format, TOE_LOG_PLAIN);
    close(terminal);
    close(other);
    close(file);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_a_message_cannot_forge_a_line),
        cmocka_unit_test(test_json_is_json),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_levels_are_left_out),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_the_format_follows_the_descriptor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
