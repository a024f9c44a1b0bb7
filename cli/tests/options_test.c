/* SPDX-License-Identifier: Apache-2.0 */
/* options_test.c - the table-driven parser of a verb's options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"

static char message[256]; /* the last one */

void cli_message(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
}

/* Options of the verb "try". */
static bool json, loud, counted, help;
static const char *path, *name_taken, *value_taken;
static uint64_t number;

static bool take(void *arg, const char *name, const char *value)
{
    assert_ptr_equal(arg, &number);
    name_taken = name;
    value_taken = value;
    return !value || strcmp(value, "bad") != 0;
}

static const struct cli_option known[] = {
    {"json", 'j', .flag = &json},
    {"loud", .flag = &loud},
    {"path", 'p', .text = &path},
    {"every", .number = &number, .min = 1, .max = 60, .unit = "seconds", .flag = &counted},
    {"take", .take = take, .arg = &number},
    {"take-none", .take = take, .arg = &number, .bare = true},
    {.name = NULL},
};
static const struct cli_options plain = {.verb = "try", .known = known},
                                mixed = {.verb = "try", .known = known, .mixed = true};

/* Parses words separated by blanks; returns the exit code. */
static int parse(const struct cli_options *o, const char *text)
{
    static char copy[256];
    char *argv[16] = {"try"}, *save;
    int argc = 1;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    json = loud = counted = false;
    path = name_taken = value_taken = NULL;
    number = 7;
    message[0] = '\0';
    return cli_options(o, argc, argv, &help);
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(parse(&plain, "--json --path /x --every=60 word --loud"), CLI_OK);
    assert_true(json);
    assert_true(counted);
    assert_string_equal(path, "/x");
    assert_int_equal(number, 60);
    assert_int_equal(optind, 5);
    assert_false(loud); /* after the first word that is not an option */
    assert_int_equal(parse(&plain, "-j -p x -- --loud"), CLI_OK);
    assert_true(json);
    assert_string_equal(path, "x");
    assert_false(loud);
    assert_int_equal(parse(&mixed, "word --loud"), CLI_OK);
    assert_true(loud);
    assert_int_equal(parse(&plain, ""), CLI_OK);
    assert_false(json || counted);
    assert_int_equal(number, 7);
}

static void test_functions(void **state)
{
    (void)state;
    assert_int_equal(parse(&plain, "--take value"), CLI_OK);
    assert_string_equal(name_taken, "take");
    assert_string_equal(value_taken, "value");
    assert_int_equal(parse(&plain, "--take-none --json"), CLI_OK);
    assert_string_equal(name_taken, "take-none");
    assert_null(value_taken);
    assert_true(json);
    assert_int_equal(parse(&plain, "--take bad --json"), CLI_USAGE);
    assert_false(json);
}

static void test_help_ends_the_parsing(void **state)
{
    (void)state;
    assert_int_equal(parse(&plain, "--json --help --nonsense"), CLI_OK);
    assert_true(help);
    assert_int_equal(parse(&plain, "-h"), CLI_OK);
    assert_true(help);
    assert_int_equal(parse(&plain, "--json"), CLI_OK);
    assert_false(help);
}

static void test_errors(void **state)
{
    static const struct {
        const char *words, *message;
    } wrong[] = {
        {"--every 61", "try: --every 61 is not a whole number from 1 to 60 (seconds)"},
        {"--every 0x2", "try: --every 0x2 is not a whole number from 1 to 60 (seconds)"},
        {"--every", "try: option --every needs a value"},
        {"--path", "try: option --path needs a value"},
        {"-p", "try: option -p needs a value"},
        {"--nonsense", "try: unknown option --nonsense; toehold try --help lists them"},
        {"-l", "try: unknown option -l; toehold try --help lists them"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(parse(&plain, wrong[i].words), CLI_USAGE);
        assert_string_equal(message, wrong[i].message);
        assert_int_equal(number, 7);
    }
}

/* getopt_long() takes the first letters for the option: then a new option changes what they mean.
 */
static void test_abbreviations_are_errors(void **state)
{
    static const char *const words[] = {"--pat x", "--pat=x", "--js", "--hel", "--ev 5", "--ev=5"};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_int_equal(parse(&plain, words[i]), CLI_USAGE);
        assert_non_null(strstr(message, "in full"));
        assert_false(json || help || path);
        assert_int_equal(number, 7);
        assert_int_equal(parse(&mixed, words[i]), CLI_USAGE);
    }
    parse(&plain, "--pat=x");
    assert_string_equal(message, "try: unknown option --pat; write --path in full, or toehold try "
                                 "--help lists them");
    assert_int_equal(parse(&plain, "--path --path"), CLI_OK); /* a value that looks like one */
    assert_int_equal(parse(&mixed, "word --path --pat more --every=3"), CLI_OK);
    assert_string_equal(path, "--pat");
    assert_int_equal(number, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_help_ends_the_parsing),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_abbreviations_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
