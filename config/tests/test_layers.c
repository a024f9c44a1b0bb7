/* SPDX-License-Identifier: Apache-2.0 */
/* test_layers.c - files, environment, profile and command line: which wins, and what is wrong. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <toe/config_layers.h>

static char folder[64], system_file[128], user_file[160];

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

static int setup(void **state)
{
    char path[128];
    size_t i;

    (void)state;
    for (i = 0; i < config_count; i++)
        if (config_settings[i].variable)
            unsetenv(config_settings[i].variable);
    unsetenv(CONFIG_FILE_ENV);
    snprintf(folder, sizeof folder, "/tmp/toehold-config-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(system_file, sizeof system_file, "%s/system.toml", folder);
    snprintf(path, sizeof path, "%s/toehold", folder);
    mkdir(path, 0755);
    snprintf(user_file, sizeof user_file, "%s/toehold.toml", path);
    setenv("XDG_CONFIG_HOME", folder, 1);
    return 0;
}

static int teardown(void **state)
{
    char path[128];

    (void)state;
    unlink(system_file);
    unlink(user_file);
    snprintf(path, sizeof path, "%s/toehold", folder);
    rmdir(path);
    return rmdir(folder);
}

/* Reads all layers, with one setting of the command line unless it is NULL. */
static struct config *load(const char *section, const char *name, const char *given)
{
    struct config_source source = {.system_file = system_file};
    struct config *c = config_new();
    char err[CONFIG_ERROR] = "";

    assert_non_null(c);
    if (section)
        assert_true(config_give(c, config_find(section, name), given));
    if (!config_load(c, &source, err, sizeof err))
        fail_msg("%s", err);
    return c;
}

/* line: of the file, where the value comes from one; then origin is its path. */
static void assert_value(const struct config *c, const char *section, const char *name,
                         const char *value, const char *origin, unsigned line)
{
    char from[CONFIG_ERROR], expected[CONFIG_ERROR];

    snprintf(expected, sizeof expected, "%s", origin);
    if (line)
        snprintf(expected, sizeof expected, "%s:%u", origin, line);
    assert_string_equal(config_text(c, section, name), value);
    assert_string_equal(config_origin(c, config_find(section, name), from, sizeof from), expected);
}

static void test_without_files(void **state)
{
    struct config *c = load(NULL, NULL, NULL);

    (void)state;
    assert_value(c, "toed", "spin-us", "50", "default", 0);
    assert_null(config_text(c, "toed", "netif"));
    assert_null(config_files(c)[0]);
    config_free(c);
}

static void test_later_layers_win(void **state)
{
    struct config *c;

    (void)state;
    write_file(system_file, "[toed]\nmtu = 1000\nttl = 1\necn = 1\nengines = 2\n");
    write_file(user_file, "[toed]\nttl = 2\necn = 2\nengines = 3\n");
    setenv("TOEHOLD_TOED_ECN", "0", 1);
    setenv("TOEHOLD_TOED_ENGINES", "4", 1);
    c = load("toed", "engines", "5");
    assert_value(c, "toed", "mtu", "1000", system_file, 2);
    assert_value(c, "toed", "ttl", "2", user_file, 2);
    assert_value(c, "toed", "ecn", "0", "TOEHOLD_TOED_ECN", 0);
    assert_value(c, "toed", "engines", "5", "command line", 0);
    assert_string_equal(config_files(c)[0], system_file);
    assert_string_equal(config_files(c)[1], user_file);
    config_free(c);
}

static void test_all_settings_win_over_a_profile(void **state)
{
    struct config *c;

    (void)state;
    write_file(system_file, "profile = \"nginx\"\n[run]\nslots = 256\n");
    c = load(NULL, NULL, NULL);
    assert_value(c, "toed", "max-flows", "65536", "profile nginx", 0);
    assert_value(c, "run", "slots", "256", system_file, 3);
    assert_value(c, "toed", "spin-us", "50", "default", 0);
    config_free(c);
    /* the profile of a later layer replaces the other as a whole */
    setenv("TOEHOLD_PROFILE", "low-cpu", 1);
    c = load(NULL, NULL, NULL);
    assert_value(c, "toed", "max-flows", "16384", "default", 0);
    assert_value(c, "toed", "spin-us", "0", "profile low-cpu", 0);
    config_free(c);
    c = load("", "profile", "latency");
    assert_value(c, "toed", "spin-us", "1000", "profile latency", 0);
    config_free(c);
}

static void test_a_named_file_is_read_alone(void **state)
{
    struct config_source named = {.file = user_file, .system_file = system_file};
    char err[CONFIG_ERROR];
    struct config *c;

    (void)state;
    write_file(system_file, "[toed]\nmtu = 1000\n");
    write_file(user_file, "[toed]\nttl = 2\n");
    c = config_new();
    assert_true(config_load(c, &named, err, sizeof err));
    assert_null(config_text(c, "toed", "mtu"));
    assert_string_equal(config_text(c, "toed", "ttl"), "2");
    config_free(c);
    setenv(CONFIG_FILE_ENV, system_file, 1);
    c = load(NULL, NULL, NULL);
    assert_string_equal(config_text(c, "toed", "mtu"), "1000");
    assert_null(config_text(c, "toed", "ttl"));
    config_free(c);
    setenv(CONFIG_FILE_ENV, "", 1);
    c = load(NULL, NULL, NULL);
    assert_null(config_files(c)[0]);
    config_free(c);
    unlink(user_file);
    c = config_new();
    assert_false(config_load(c, &named, err, sizeof err));
    assert_non_null(strstr(err, "no such file"));
    config_free(c);
}

static void test_forms_of_values(void **state)
{
    struct config *c;

    (void)state;
    write_file(system_file,
               "[toed]\ncpu = [2, 3]\noffload = { tso = false, gro = true }\n"
               "user-limits = \"qps=4\"\nrfc1337 = true\nnetif = 'tap:tap0'\nmtu = 0x5dc\n");
    c = load(NULL, NULL, NULL);
    assert_string_equal(config_text(c, "toed", "cpu"), "2,3");
    assert_string_equal(config_text(c, "toed", "offload"), "gro=on,tso=off");
    assert_string_equal(config_text(c, "toed", "user-limits"), "qps=4");
    assert_string_equal(config_text(c, "toed", "rfc1337"), "true");
    assert_string_equal(config_text(c, "toed", "netif"), "tap:tap0");
    assert_string_equal(config_text(c, "toed", "mtu"), "1500");
    config_free(c);
}

static void test_mistakes_are_named(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"[toed]\nmax-flow = 5\n",
         ":2: there is no setting max-flow in [toed]; the nearest is max-flows in [toed]"},
        {"\n\nnetif = \"tap:t\"\n",
         ":3: there is no setting netif at the top; the nearest is netif in [toed]"},
        {"[toed]\nsocket = \"/x\"\n",
         ":2: there is no setting socket in [toed]; the nearest is socket at the top"},
        {"[teod]\n", ":1: there is no section [teod]; the nearest is [toed]"},
        {"[toed.more]\nx = 1\n", ":1: there is no setting more in [toed]"},
        {"[[toed]]\n", ":1: there is no setting toed at the top"},
        {"[toed]\nmtu = \"1500\"\n", ":2: mtu is a text in quotes: want a whole number from 576 to "
                                     "9216, without quotes"},
        {"[toed]\nmtu = 1500.5\n", ":2: mtu is a number with a fraction: want"},
        {"[toed]\nmtu = 2026-11-28\n", ":2: mtu is a date or time: want"},
        {"[toed]\nmtu = -5\n", ":2: mtu = -5: want a whole number from 576 to 9216"},
        {"[toed]\nrfc1337 = 1\n", ":2: rfc1337 is a number: want true or false, without quotes"},
        {"[toed]\nip = 10\n", ":2: ip is a number: want an address and prefix length"},
        {"[toed]\nip = \"10.0.0.1/33\"\n", ":2: ip = 10.0.0.1/33: want a prefix length"},
        {"[toed]\ncpu = [1, \"x\"]\n", ":2: cpu is an array: want"},
        {"[toed]\ncpu = []\n", ":2: cpu = : want numbers of CPUs"},
        {"[toed]\noffload = { tso = 3 }\n", ":2: offload = tso=3: want NAME=on|off"},
        {"[toed]\nnetif = \"a\\u0000b\"\n", ":2: netif is a text with a zero byte: want"},
        {"[toed]\nseed = \"00\"\n", ":2: seed is an option of the command line alone"},
        {"[toed]\nmtu = 1500\nmtu = 1400\n", ":3: "},
        {"[toed\n", ":1: "},
        {"[toed]\nmtu =\n", ":2: "},
        {"\xff\xfe\n", ":1: "},
        {"profile = \"fast\"\n",
         ":1: profile = fast: want latency, throughput, low-cpu, nginx or redis"},
    };
    char err[CONFIG_ERROR];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(system_file, cases[i].text);
        err[0] = '\0';
        assert_false(config_check_file(system_file, err, sizeof err));
        if (strncmp(err, system_file, strlen(system_file)) != 0 ||
            strncmp(err + strlen(system_file), cases[i].said, strlen(cases[i].said)) != 0)
            fail_msg("case %zu: %s", i, err);
    }
}

/* The longest line has the deepest key, which the parser follows by recursion. */
static void test_long_lines(void **state)
{
    static char text[8192];
    char err[CONFIG_ERROR];
    size_t n;

    (void)state;
    for (n = 2048; n <= 2050; n += 2) {
        memset(text, 0, sizeof text);
        text[0] = '[';
        memset(text + 1, 'a', n - 2);
        for (size_t i = 2; i < n - 1; i += 2)
            text[i] = '.';
        text[n - 1] = ']';
        if (n % 4 == 0) /* a key must not end in a dot */
            text[n - 2] = 'a';
        text[n] = '\n';
        write_file(system_file, text);
        assert_false(config_check_file(system_file, err, sizeof err));
        if (n == 2048)
            assert_non_null(strstr(err, ":1: there is no section [a]"));
        else
            assert_non_null(strstr(err, ":1: longer than 2048 bytes"));
    }
}

static void test_mistakes_of_the_environment(void **state)
{
    static const char *const toed[] = {"", "toed", NULL};
    const struct config_source source = {.sections = toed, .system_file = system_file};
    char err[CONFIG_ERROR] = "";
    struct config *c = config_new();

    (void)state;
    setenv("TOEHOLD_SLOTS", "3", 1); /* not a setting of toed */
    setenv("TOEHOLD_TOED_MTU", "", 1);
    assert_true(config_load(c, &source, err, sizeof err));
    setenv("TOEHOLD_TOED_MTU", "15", 1);
    assert_false(config_load(c, &source, err, sizeof err));
    assert_string_equal(err, "TOEHOLD_TOED_MTU=15: want a whole number from 576 to 9216");
    config_free(c);
}

static void assert_refused(const char *said)
{
    char err[CONFIG_ERROR] = "";

    assert_false(config_check_file(system_file, err, sizeof err));
    if (!strstr(err, said))
        fail_msg("%s", err);
}

static void test_root_reads_no_file_of_others(void **state)
{
    char err[CONFIG_ERROR];

    (void)state;
    if (geteuid() != 0)
        skip();
    write_file(system_file, "[toed]\n");
    assert_true(config_check_file(system_file, err, sizeof err));
    assert_int_equal(chmod(system_file, 0664), 0);
    assert_refused("mode 0664 lets others write it");
    assert_int_equal(chmod(system_file, 0602), 0);
    assert_refused("mode 0602 lets others write it");
    assert_int_equal(chmod(system_file, 0600), 0);
    assert_int_equal(chown(system_file, 65534, 0), 0);
    assert_refused("user 65534 owns it");
}

/* The folder belongs to root. */
static void test_the_home_of_another_user_does_not_count(void **state)
{
    struct config *c;

    (void)state;
    if (geteuid() != 0)
        skip();
    write_file(user_file, "[toed]\nmtu = 1000\n");
    c = load(NULL, NULL, NULL);
    assert_string_equal(config_files(c)[0], user_file);
    config_free(c);
    assert_int_equal(chmod(folder, 0755), 0); /* system_file is there too */
    assert_int_equal(seteuid(65534), 0);
    c = load(NULL, NULL, NULL);
    assert_int_equal(seteuid(0), 0);
    assert_null(config_files(c)[0]);
    config_free(c);
}

static void test_what_is_no_file(void **state)
{
    char err[CONFIG_ERROR];

    (void)state;
    assert_false(config_check_file(folder, err, sizeof err));
    assert_non_null(strstr(err, "not a regular file"));
    assert_int_equal(mkfifo(system_file, 0600), 0);
    assert_refused("not a regular file"); /* and does not wait for a writer */
}

static void test_a_value_is_copied_with_its_origin(void **state)
{
    const struct config_setting *mtu = config_find("toed", "mtu");
    struct config *a, *b;

    (void)state;
    write_file(system_file, "[toed]\nmtu = 1000\n");
    a = load(NULL, NULL, NULL);
    unlink(system_file);
    b = load(NULL, NULL, NULL);
    assert_null(config_value(b, mtu));
    assert_true(config_copy(b, a, mtu));
    assert_string_equal(config_value(b, mtu), "1000");
    config_free(a);
    assert_string_equal(config_value(b, mtu), "1000");
    config_free(b);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_files),
        TEST(test_later_layers_win),
        TEST(test_all_settings_win_over_a_profile),
        TEST(test_a_named_file_is_read_alone),
        TEST(test_forms_of_values),
        TEST(test_mistakes_are_named),
        TEST(test_long_lines),
        TEST(test_mistakes_of_the_environment),
        TEST(test_root_reads_no_file_of_others),
        TEST(test_the_home_of_another_user_does_not_count),
        TEST(test_what_is_no_file),
        TEST(test_a_value_is_copied_with_its_origin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
