/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_test.c - shell words, findings, and the options of a running toed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../common/word.h"
#include "../doctor/report.h"
#include "../doctor/toe.h"

static void test_words(void **state)
{
    static const struct {
        const char *text, *word;
    } table[] = {
        {"srv0", "srv0"},
        {"/run/toehold/toed.sock", "/run/toehold/toed.sock"},
        {"", "''"},
        {"a b", "'a b'"},
        {"a;reboot", "'a;reboot'"},
        {"$(id)", "'$(id)'"},
        {"it's", "'it'\\''s'"},
        {"'", "''\\'''"},
        {"~root", "'~root'"},
        {"a=b", "a=b"},
    };
    char out[64];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_true(cli_word(out, sizeof out, table[i].text));
        assert_string_equal(out, table[i].word);
    }
}

static void test_word_without_room(void **state)
{
    char out[8];

    (void)state;
    assert_true(cli_word(out, sizeof out, "1234567"));
    assert_false(cli_word(out, sizeof out, "12345678"));
    assert_string_equal(out, "");
    assert_true(cli_word(out, sizeof out, "'"));
    assert_false(cli_word(out, sizeof out, "''"));
}

static void test_worst(void **state)
{
    struct report *r = report_new();

    (void)state;
    assert_int_equal(report_worst(r), FOUND_OK);
    report_add(r, FOUND_NOTE, "a.b", "a note");
    assert_int_equal(report_worst(r), FOUND_NOTE);
    report_add(r, FOUND_ERROR, "a.c", "an error");
    report_add(r, FOUND_WARNING, "a.d", "a warning");
    assert_int_equal(report_worst(r), FOUND_ERROR);
    report_free(r);
}

/* The names of processes are their owners' choice: they must not reach a terminal as they are. */
static char *printed(struct report *r, char *text, size_t size)
{
    FILE *f = tmpfile();
    int out = dup(STDOUT_FILENO);
    size_t n;

    fflush(stdout);
    dup2(fileno(f), STDOUT_FILENO);
    report_print_json(r, "1");
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(f);
    n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static void test_hostile_names(void **state)
{
    struct report *r = report_new();
    char text[4096];

    (void)state;
    report_add(r, FOUND_ERROR, "a.b", "name %s", "x\033[2Jy");
    report_cure(r, "rm '%s'", "x\033[2Jy");
    report_add(r, FOUND_ERROR, "a.c", "name %s", "\xff\xfe");
    report_cure(r, "rm %s", "\xff\xfe");
    printed(r, text, sizeof text);
    assert_non_null(strstr(text, "\"name x?[2Jy\""));
    assert_non_null(strstr(text, "\"name ??\""));
    assert_null(strstr(text, "cure"));
    report_free(r);
}

#define ARGS(text)                                                                                 \
    {                                                                                              \
        .args = (char[]){text}, .args_size = sizeof(text) - 1, .program = "/usr/bin/toed"          \
    }

static void test_options_of_toed(void **state)
{
    struct toe t = ARGS("toed\0--netif\0tap:a\0--ip=10.0.0.1/24\0--netif=tap:b\0--ip6-auto\0");
    struct toe none = {.args = NULL};

    (void)state;
    assert_string_equal(toe_option(&t, "netif"), "tap:b");
    assert_string_equal(toe_option(&t, "ip"), "10.0.0.1/24");
    assert_string_equal(toe_option(&t, "ip6-auto"), "");
    assert_null(toe_option(&t, "ip6"));
    assert_null(toe_option(&t, "gateway"));
    assert_null(toe_option(&none, "netif"));
}

static void test_commands(void **state)
{
    struct toe t = ARGS("./toed\0--netif\0tee(/tmp/a b):tap:a\0--take-over\0"), none = {0};
    char out[256];

    (void)state;
    assert_true(toe_take_over_command(&t, out, sizeof out));
    assert_string_equal(out, "/usr/bin/toed --netif 'tee(/tmp/a b):tap:a' --take-over &");
    assert_false(toe_take_over_command(&t, out, 30));
    assert_false(toe_take_over_command(&t, out, 50));
    assert_false(toe_take_over_command(&none, out, sizeof out));
    t.args = (char[]){"nginx\0-g\0x\0"}; /* an engine within a program */
    t.args_size = 11;
    assert_false(toe_take_over_command(&t, out, sizeof out));
    t = (struct toe)ARGS("./toed\0--netif\0tee(/tmp/a b):tap:a\0--take-over\0");
    t.pid = 7;
    assert_true(toe_restart_command(&t, "--gateway 10.0.0.2", out, sizeof out));
    assert_string_equal(out, "kill 7; tail --pid=7 -f /dev/null; /usr/bin/toed --netif "
                             "'tee(/tmp/a b):tap:a' --gateway 10.0.0.2 &");
    assert_false(toe_restart_command(&t, "--gateway 10.0.0.2", out, 30));
    assert_false(toe_restart_command(&t, "--gateway 10.0.0.2", out, 90));
    assert_false(toe_restart_command(&none, "", out, sizeof out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_word_without_room),
        cmocka_unit_test(test_worst),           cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_options_of_toed), cmocka_unit_test(test_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
