/* SPDX-License-Identifier: Apache-2.0 */
/* test_values.c - the table of settings, their values, profiles, and the nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <toe/config.h>

static const struct config_setting *setting(const char *section, const char *name)
{
    const struct config_setting *s = config_find(section, name);

    assert_non_null(s);
    return s;
}

static void test_the_table_is_consistent(void **state)
{
    char want[CONFIG_WANT], a[CONFIG_NAME], b[CONFIG_NAME];
    size_t i, k;

    (void)state;
    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        if (s->fallback && !config_accepts(s, s->fallback, want, sizeof want))
            fail_msg("%s: the default %s is not %s", s->name, s->fallback, want);
        assert_true(s->help[0] && strlen(s->help) < CONFIG_WANT);
        assert_true(!s->flag || s->programs);
        for (k = 0; k < i; k++) {
            const struct config_setting *t = &config_settings[k];

            assert_string_not_equal(config_full_name(s, a, sizeof a),
                                    config_full_name(t, b, sizeof b));
            assert_true(!s->variable || !t->variable || strcmp(s->variable, t->variable) != 0);
        }
    }
}

static void test_profiles_set_what_exists(void **state)
{
    char want[CONFIG_WANT];
    size_t i, k, of;

    (void)state;
    for (i = 0; i < config_profile_count; i++) {
        assert_true(
            config_accepts(setting("", "profile"), config_profiles[i].name, want, sizeof want));
        for (k = of = 0; k < config_preset_count; k++)
            of += strcmp(config_presets[k].profile, config_profiles[i].name) == 0;
        assert_true(of > 0);
    }
    for (i = 0; i < config_preset_count; i++) {
        const struct config_preset *p = &config_presets[i];

        if (!config_accepts(setting(p->section, p->name), p->value, want, sizeof want))
            fail_msg("profile %s: %s = %s: want %s", p->profile, p->name, p->value, want);
    }
}

static void test_values(void **state)
{
    static const struct {
        const char *section, *name, *value;
        bool good;
    } cases[] = {
        {"toed", "mtu", "576", true},
        {"toed", "mtu", "9216", true},
        {"toed", "mtu", "575", false},
        {"toed", "mtu", "9217", false},
        {"toed", "mtu", "0x600", false},
        {"toed", "mtu", "-1", false},
        {"toed", "mtu", " 1500", false},
        {"toed", "mtu", "", false},
        {"run", "slots", "4096", true},
        {"run", "slots", "4095", false},
        {"run", "slots", "0", false},
        {"toed", "rfc1337", "true", true},
        {"toed", "rfc1337", "0", true},
        {"toed", "rfc1337", "yes", false},
        {"toed", "congestion", "bbr", true},
        {"toed", "congestion", "bbr3", true},
        {"toed", "congestion", "bb", false},
        {"toed", "congestion", "bbr|dctcp", false},
        {"toed", "congestion", "", false},
        {"toed", "cpu", "0", true},
        {"toed", "cpu", "2,3", true},
        {"toed", "cpu", "2,", false},
        {"toed", "cpu", "1024", false},
        {"toed", "cpu", "1,00000000000000000000000000000000000000002", false},
        {"toed", "offload", "tso=off", true},
        {"toed", "offload", "tso=off,gro=on", true},
        {"toed", "offload", "tso", false},
        {"toed", "offload", "tso=1", false},
        {"toed", "offload", "tsx=on", false},
        {"toed", "offload", "=on", false},
        {"toed", "user-limits", "qps=4,memory=100", true},
        {"toed", "user-limits", "qps=0", false},
        {"toed", "user-limits", "qps=on", false},
        {"toed", "ip", "192.0.2.10/24", true},
        {"toed", "ip", "shared", true},
        {"inline", "ip", "shared", false},
        {"toed", "ip", "192.0.2.10", false},
        {"toed", "ip", "192.0.2.10/33", false},
        {"toed", "ip", "192.0.2.10/0", false},
        {"toed", "ip", "127.0.0.1/8", false},
        {"toed", "ip", "224.0.0.1/4", false},
        {"toed", "gateway", "192.0.2.1", true},
        {"toed", "gateway", "192.0.2", false},
        {"toed", "ip6", "2001:db8::1/64", true},
        {"toed", "ip6", "fe80::1/64", false},
        {"toed", "ip6", "::1/128", false},
        {"toed", "ip6", "2001:db8::1/129", false},
        {"toed", "gateway6", "fe80::1", true},
        {"toed", "gateway6", "ff02::1", false},
        {"toed", "mac", "02:00:00:00:00:01", true},
        {"toed", "mac", "01:00:00:00:00:01", false},
        {"toed", "mac", "00:00:00:00:00:00", false},
        {"toed", "netif", "tap:tap0", true},
        {"toed", "netif", "", false},
        {"toed", "netif", "tap:\ntap0", false},
        {"toed", "seed", "0aF", true},
        {"toed", "seed", "g", false},
    };
    char want[CONFIG_WANT];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        want[0] = '\0';
        if (config_accepts(setting(cases[i].section, cases[i].name), cases[i].value, want,
                           sizeof want) != cases[i].good)
            fail_msg("%s = \"%s\" is%s accepted", cases[i].name, cases[i].value,
                     cases[i].good ? " not" : "");
        assert_true(want[0]);
    }
}

static void assert_wants(const char *section, const char *name, const char *value,
                         const char *expected)
{
    char want[CONFIG_WANT];

    assert_false(config_accepts(setting(section, name), value, want, sizeof want));
    assert_string_equal(want, expected);
}

static void test_messages_say_what_is_accepted(void **state)
{
    (void)state;
    assert_wants("toed", "mtu", "1", "a whole number from 576 to 9216");
    assert_wants("run", "slots", "3", "a power of two from 1 to 1048576");
    assert_wants("toed", "congestion", "x", "cubic, reno, bbr, bbr3 or dctcp");
    assert_wants("toed", "rfc1337", "x", "true or false");
    assert_wants("toed", "ip", "10.0.0.1/33", "a prefix length from 1 to 32");
    assert_wants("toed", "cpu", "x", "numbers of CPUs from 0 to 1023, such as 2,3");
    assert_wants("toed", "user-limits", "x",
                 "NAME=NUMBER,... with names out of qps, slots, memory, listeners or commands");
}

static void test_addresses_are_stored(void **state)
{
    static const uint8_t four[] = {192, 0, 2, 10}, six[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    uint8_t ip[16], len = 0;

    (void)state;
    assert_true(config_prefix4("192.0.2.10/24", ip, &len, NULL, 0));
    assert_memory_equal(ip, four, sizeof four);
    assert_int_equal(len, 24);
    assert_true(config_prefix6("2001:db8::1/48", ip, &len, NULL, 0));
    assert_memory_equal(ip, six, sizeof six);
    assert_int_equal(len, 48);
    assert_false(config_prefix4("10.0.0.1", ip, &len, NULL, 0));
}

static void assert_nearest(const char *section, const char *name, const char *expected)
{
    char full[CONFIG_NAME];

    assert_string_equal(config_full_name(config_nearest(section, name), full, sizeof full),
                        expected);
}

static void test_the_nearest_name(void **state)
{
    (void)state;
    assert_nearest("toed", "max-flow", "toed.max-flows");
    assert_nearest("toed", "max_flows", "toed.max-flows");
    assert_nearest("toed", "mtiu", "toed.mtu");
    assert_nearest("toed", "socket", "socket"); /* the same name at the top */
    assert_nearest("", "netif", "toed.netif");
    assert_nearest("", "profil", "profile");
    assert_nearest("run", "slot", "run.slots");
    assert_nearest("toed", "spin", "toed.spin-us");
    assert_string_not_equal(config_nearest("toed", "seed")->name, "seed"); /* not for files */
    assert_string_equal(config_nearest_section("teod"), "toed");
    assert_string_equal(config_nearest_section("logs"), "log");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_is_consistent),
        cmocka_unit_test(test_profiles_set_what_exists),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_messages_say_what_is_accepted),
        cmocka_unit_test(test_addresses_are_stored),
        cmocka_unit_test(test_the_nearest_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
