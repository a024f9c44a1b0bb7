/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spec.c - specifications: which are rejected, and that the message gives the reason.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../src/spec.h"
#include "testing.h"

static char text[256];
static const struct netio_err err = {text, sizeof(text)};

static void splits_name_and_options(void **state)
{
    struct spec s;
    uint64_t number;
    unsigned choice;

    (void)state;
    assert_int_equal(spec_parse(&s, "x", "eth0,queue=7,mode=b", "queue mode other", &err), 0);
    assert_string_equal(s.name, "eth0");
    assert_int_equal(spec_get_number(&s, "x", "queue", 0, 9, 0, &number, &err), 0);
    assert_int_equal(number, 7);
    assert_int_equal(spec_get_choice(&s, "x", "mode", "a b c", &choice, &err), 0);
    assert_int_equal(choice, 1);
    assert_null(spec_get(&s, "other"));
    assert_int_equal(spec_get_number(&s, "x", "other", 0, 9, 5, &number, &err), 0);
    assert_int_equal(number, 5);
}

static void first_word_may_be_an_option(void **state)
{
    struct spec s;

    (void)state;
    assert_int_equal(spec_parse(&s, "x", "in=f", "in", &err), 0);
    assert_string_equal(s.name, "");
    assert_string_equal(spec_get(&s, "in"), "f");
    assert_int_equal(spec_parse(&s, "x", "", "in", &err), 0);
    assert_int_equal(s.count, 0);
}

static void refuses(const char *args, const char *part)
{
    struct spec s;

    assert_int_equal(spec_parse(&s, "x", args, "key", &err), -1);
    if (!strstr(text, part))
        fail_msg("'%s' does not contain '%s'", text, part);
}

static void bad_words_are_named(void **state)
{
    char long_name[SPEC_TEXT + 1];

    (void)state;
    refuses("n,other=1", "'other'");
    refuses("n,key", "'key' has no value");
    refuses("n,key=1,key=2", "twice");
    refuses("n,,key=1", "comma");
    refuses("n,", "comma");
    refuses("n,ke=1", "unknown option 'ke'");
    refuses("n,=1", "unknown option ''");
    memset(long_name, 'n', SPEC_TEXT);
    long_name[SPEC_TEXT] = '\0';
    refuses(long_name, "longer than");
}

static void bad_numbers_are_named(void **state)
{
    static const char *const bad[] = {"key=",   "key=-1", "key=+1",
                                      "key=1x", "key=1",  "key=10",
                                      "key=a",  "key= 1", "key=99999999999999999999"};
    struct spec s;
    uint64_t number;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(spec_parse(&s, "x", bad[i], "key", &err), 0);
        assert_int_equal(spec_get_number(&s, "x", "key", 2, 9, 3, &number, &err), -1);
        assert_non_null(strstr(text, "whole number from 2 to 9"));
    }
}

static void unknown_kinds_are_named(void **state)
{
    (void)state;
    open_fails("", "unknown kind ''");
    open_fails("eth0", "unknown kind 'eth0'");
    open_fails("tapir:x", "unknown kind 'tapir'");
    open_fails("tap", "write tap:IFNAME");
    open_fails("tap(x):y", "write tap:IFNAME");
    open_fails("impair:tap:x", "impair(OPTIONS):SPEC");
    open_fails("impair(loss=1", "impair(OPTIONS):SPEC");
    open_fails("impair(loss=1)tap:x", "impair(OPTIONS):SPEC");
    open_fails("impair(loss=1):nothing:x", "unknown kind 'nothing'");
    open_fails("tee(/tmp/x):nothing:x", "unknown kind 'nothing'");
}

static void back_ends_refuse_bad_options(void **state)
{
    (void)state;
    open_fails("tap:", "no interface named");
    open_fails("tap:a-name-that-is-too-long", "cannot be an interface's name");
    open_fails("tap:x,mode=native", "unknown option 'mode'");
    open_fails("wire:", "path of 1 to");
    open_fails("wire:/tmp/x,side=c", "side=c is not one of");
    open_fails("wire:/tmp/x,mtu=9001", "mtu=9001");
    open_fails("wire:/tmp/x,mtu=67", "mtu=67 is not a whole number from 68 to 9000");
    open_fails("wire:/nowhere/at/all", "No such file");
    open_fails("pcap:", "name a file");
    open_fails("pcap:in=/nowhere/at/all", "/nowhere/at/all");
    open_fails("pcap:out=/nowhere/at/all", "/nowhere/at/all");
    open_fails("pcap:out=-", "'-'");
    open_fails("pcap:out=/dev/null,mac=01:00:00:00:00:01", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac=2:0:0:0:0:1", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac=02: 0:00:00:00:01", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac=02:+1:00:00:00:01", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac=02:0x:00:00:00:01", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac=02:00:00:00:00:01:", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac=02:00:00:00:00:1", "not a station's MAC");
    open_fails("pcap:out=/dev/null,mac= 2:00:00:00:00:01", "not a station's MAC");
    open_fails("pcap:out=/dev/null,pace=slow", "pace=slow is not one of");
}

static void second_queue_is_refused_where_there_is_one(void **state)
{
    const struct netio_config cfg = {.queue = 1};

    (void)state;
    assert_null(netio_open("pcap:out=/dev/null", &cfg, text, sizeof(text)));
    assert_non_null(strstr(text, "one queue"));
    assert_null(netio_open("wire:/tmp/x", &cfg, text, sizeof(text)));
    assert_non_null(strstr(text, "one queue"));
}

static void af_xdp_refuses_bad_options(void **state)
{
    const struct netio_config cfg = {0};
    char e[512];

    (void)state;
    assert_null(netio_open("af_xdp:", &cfg, e, sizeof(e)));
    if (strstr(e, "this build has no AF_XDP"))
        return;
    open_fails("af_xdp:", "no interface named");
    open_fails("af_xdp:lo,queue=x", "queue=x is not a whole number");
    open_fails("af_xdp:lo,mode=fast", "mode=fast is not one of: auto native generic");
    open_fails("af_xdp:lo,copy=no", "copy=no is not one of: auto copy zero");
    open_fails("af_xdp:nothere0", "no interface 'nothere0'");
}

/* Pieces of specifications in random order open something or are refused with a sentence. */
static void random_specifications_do_no_harm(void **state)
{
    static const char *const pieces[] = {
        "impair",  "tee",        "pcap",      "wire",
        "af_xdp",  "(",          ")",         ":",
        ",",       "=",          "loss",      "rate",
        "delay",   "burst",      "1",         "99%",
        "1/2",     "-1",         "0x",        "ms",
        "seed",    "out",        "in",        "mac",
        "mtu",     "dir",        "memory=",   "queue",
        "reorder", "impair(",    "):",        "pcap:out=/dev/null",
        "loss=1,", "delay=1ms,", "/dev/null", "",
    };
    const struct netio_config cfg = {.ip = {192, 0, 2, 1}};
    uint64_t random = test_seed();
    char e[128], spec[512];
    unsigned i, k, opened = 0;

    (void)state;
    /* Some name files to write. */
    assert_int_equal(chdir(make_folder()), 0);
    for (i = 0; i < 20000; i++) {
        size_t used = 0;
        struct netio *n;

        spec[0] = '\0';
        for (k = 0; k < 2 + i % 9; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            used += (size_t)snprintf(spec + used, sizeof(spec) - used, "%s",
                                     pieces[(random >> 33) % (sizeof(pieces) / sizeof(pieces[0]))]);
        }
        e[0] = '\0';
        n = netio_open(spec, &cfg, e, sizeof(e));
        if (!n && !*e)
            fail_msg("'%s' is refused without a sentence", spec);
        opened += n != NULL;
        netio_close(n);
    }
    assert_true(opened > 0);
    assert_int_equal(chdir("/"), 0);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_name_and_options),
        cmocka_unit_test(first_word_may_be_an_option),
        cmocka_unit_test(bad_words_are_named),
        cmocka_unit_test(bad_numbers_are_named),
        cmocka_unit_test(unknown_kinds_are_named),
        cmocka_unit_test(back_ends_refuse_bad_options),
        cmocka_unit_test(second_queue_is_refused_where_there_is_one),
        cmocka_unit_test(af_xdp_refuses_bad_options),
        cmocka_unit_test(random_specifications_do_no_harm),
    };

    return cmocka_run_group_tests_name("netio spec", tests, NULL, NULL);
}
