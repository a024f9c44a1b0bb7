/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - fuzz target: user configuration: the command line of toed, and the TOEHOLD_* variables
 * as `toehold` checks them and as libtoe reads them.
 *
 * Input: words separated by newlines. Those beginning with TOEHOLD_ go into the environment, the
 * others are arguments of toed. Checks: accepted values are in range; libtoe accepts what `toehold`
 * accepts.
 */
#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include "../../cli/common/message.h"
#include "../../cli/run/settings.h"
#include "../../manager/src/base/config.h"
#include "process/options.h"

#include "fuzz.h"

#define WORDS 32
#define BYTES 2048

static const char *const names[] = {"TOEHOLD_SLOTS",     "TOEHOLD_TX_SIZE",      "TOEHOLD_RX_SIZE",
                                    "TOEHOLD_IRQ_COUNT", "TOEHOLD_BUSY_POLL_US", "TOEHOLD_IRQ_USEC",
                                    "TOEHOLD_REQUIRE",   "TOEHOLD_REPORT",       "TOEHOLD_SOCKET"};

/* In place of cli/common/message.c: no output. */
void cli_message(const char *format, ...)
{
    (void)format;
}

static void check_environment(void)
{
    char err[256] = "";
    struct tconfig cfg;
    int rc = tconfig_resolve(&cfg, NULL, err, sizeof(err));

    if (rc == 0) {
        FUZZ_CHECK(cfg.slots >= 1 && cfg.slots <= TOEDEV_SLOTS_MAX &&
                   !(cfg.slots & (cfg.slots - 1)));
        FUZZ_CHECK(cfg.tx_size >= TOEDEV_BUFFER_MIN && cfg.tx_size <= TOEDEV_BUFFER_MAX);
        FUZZ_CHECK(cfg.rx_size >= TOEDEV_BUFFER_MIN && !(cfg.rx_size & (cfg.rx_size - 1)));
        FUZZ_CHECK(memchr(cfg.socket, 0, sizeof(cfg.socket)));
    } else {
        FUZZ_CHECK(err[0] && memchr(err, 0, sizeof(err)));
    }
    FUZZ_CHECK(!cli_check_environment() || rc == 0);
}

static void check_arguments(int argc, char **argv)
{
    struct options o;
    int rc;

    optind = 0; /* GNU: restart, and reset the internal state */
    opterr = 0;
    rc = options_parse(&o, argc, argv);
    FUZZ_CHECK(rc >= -1 && rc <= EXIT_CONFIG);
    if (rc != -1)
        return;
    FUZZ_CHECK(o.netif && (o.prefix_len || o.has_ip6 || o.shared));
    FUZZ_CHECK(o.prefix_len <= 32 && o.prefix_len6 <= 128);
    FUZZ_CHECK(!o.has_ip6 || o.ip6_auto || o.prefix_len6);
    FUZZ_CHECK(o.engines >= 1 && o.max_qps >= 1 && o.max_flows >= 1);
    FUZZ_CHECK(o.mtu == 0 || (o.mtu >= 576 && o.mtu <= 9216));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    int null = open("/dev/null", O_WRONLY);

    (void)argc;
    (void)argv;
    /* Discards toed's messages, which would take most of the time. The fuzzer's own use another
     * stream. */
    stdout = fdopen(null, "w");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[BYTES + 1];
    char *argv[WORDS + 2] = {(char[]){"toed"}};
    char *word, *rest = text, *value;
    FILE *said = stderr;
    unsigned i;
    int argc = 1;

    memset(text, 0, sizeof(text));
    memcpy(text, data, size < BYTES ? size : BYTES);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    while ((word = strsep(&rest, "\n")) && argc <= WORDS) {
        value = strchr(word, '=');
        if (strncmp(word, "TOEHOLD_", 8) == 0 && value) {
            *value = 0;
            for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(word, names[i]) == 0)
                    setenv(word, value + 1, 1);
        } else if (*word) {
            argv[argc++] = word;
        }
    }
    check_environment();
    stderr = stdout;
    check_arguments(argc, argv);
    stderr = said;
    return 0;
}
