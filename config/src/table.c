/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the table of all settings (toe/config.h). */
#include <string.h>

#include <toe/attach.h>
#include <toe/config.h>
#include <toe/inline.h>
#include <toe/settings.h>

#define OFFLOADS    "rx|tx|sg|tso|gso|gro|lro|rxhash"
#define LIMITS      "qps|slots|memory|listeners|commands"
#define ENGINES_MAX 64
#define CPU_MAX     1023 /* CPU_SETSIZE - 1 */

#define TEXT           CONFIG_TEXT, 0, 0, NULL
#define NUMBER(lo, hi) CONFIG_NUMBER, lo, hi, NULL
#define POWER(lo, hi)  CONFIG_POWER, lo, hi, NULL
#define FLAG           CONFIG_FLAG, 0, 0, NULL
#define WORD(list)     CONFIG_WORD, 0, 0, list
#define PAIRS(list)    CONFIG_PAIRS, 0, 0, list
#define TYPE(type)     type, 0, 0, NULL

/*
 * The settings of an engine, in toed and within a program:
 * S(name, variable, type, default, change in toed, help)
 */
#define ENGINE_SETTINGS(S)                                                                         \
    S("netif", "TOEHOLD_TOED_NETIF", TEXT, NULL, CONFIG_RESTART,                                   \
      "where packets go: af_xdp:IFNAME, dpdk:PORT, tap:IFNAME, wire:PATH, impair(...):SPEC")       \
    S("gateway", "TOEHOLD_TOED_GATEWAY", TYPE(CONFIG_ADDRESS4), NULL, CONFIG_RESTART,              \
      "router for IPv4 destinations off the link")                                                 \
    S("ip6", "TOEHOLD_TOED_IP6", TYPE(CONFIG_PREFIX6), NULL, CONFIG_RESTART,                       \
      "IPv6 address and the length of its on-link prefix")                                         \
    S("ip6-auto", "TOEHOLD_TOED_IP6_AUTO", FLAG, "false", CONFIG_RESTART,                          \
      "addresses, routers and MTU of IPv6 as routers advertise them")                              \
    S("gateway6", "TOEHOLD_TOED_GATEWAY6", TYPE(CONFIG_ADDRESS6), NULL, CONFIG_RESTART,            \
      "router for IPv6 destinations off the link")                                                 \
    S("vlan", "TOEHOLD_TOED_VLAN", NUMBER(1, 4094), NULL, CONFIG_RESTART,                          \
      "VLAN ID of the addresses; default: untagged")                                               \
    S("mac", "TOEHOLD_TOED_MAC", TYPE(CONFIG_MAC), NULL, CONFIG_RESTART,                           \
      "Ethernet address; default: the interface's")                                                \
    S("mtu", "TOEHOLD_TOED_MTU", NUMBER(576, 9216), NULL, CONFIG_RESTART,                          \
      "largest packet; default: the interface's")                                                  \
    S("spin-us", "TOEHOLD_TOED_SPIN_US", NUMBER(0, 1000000), "50", CONFIG_RELOAD,                  \
      "microseconds without work before an engine sleeps")                                         \
    S("max-flows", "TOEHOLD_TOED_MAX_FLOWS", NUMBER(1, 1u << 20), "16384", CONFIG_TAKE_OVER,       \
      "connections per engine")                                                                    \
    S("max-neighbours", "TOEHOLD_TOED_MAX_NEIGHBOURS", NUMBER(16, UINT16_MAX), "4096",             \
      CONFIG_TAKE_OVER, "hosts of the link known at once per engine")                              \
    S("congestion", "TOEHOLD_TOED_CONGESTION", WORD("cubic|reno|bbr|bbr3|dctcp"), "cubic",         \
      CONFIG_RELOAD, "congestion control of connections that request none")                        \
    S("ecn", "TOEHOLD_TOED_ECN", NUMBER(0, 2), "2", CONFIG_RELOAD,                                 \
      "as net.ipv4.tcp_ecn: 0 never, 1 requested, 2 when the peer requests it")                    \
    S("mtu-probing", "TOEHOLD_TOED_MTU_PROBING", NUMBER(0, 2), "1", CONFIG_RELOAD,                 \
      "as net.ipv4.tcp_mtu_probing: 0 never, 1 after timeouts of full segments, 2 always")         \
    S("ttl", "TOEHOLD_TOED_TTL", NUMBER(1, 255), NULL, CONFIG_TAKE_OVER,                           \
      "time to live of IPv4, hop limit of IPv6; default: 64")                                      \
    S("rfc1337", "TOEHOLD_TOED_RFC1337", FLAG, "false", CONFIG_RELOAD,                             \
      "a RST does not end TIME-WAIT")                                                              \
    S("offload", "TOEHOLD_TOED_OFFLOAD", PAIRS(OFFLOADS), NULL, CONFIG_RELOAD,                     \
      "offloads on or off: tso=off,gro=on; default: all that the interface has")                   \
    S("cpu", "TOEHOLD_TOED_CPU", NUMBER_LIST, NULL, CONFIG_TAKE_OVER,                              \
      "CPU of each engine; default: any")
#define NUMBER_LIST CONFIG_CPUS, 0, CPU_MAX, NULL

#define IN_TOED(name, variable, type, fallback, change, help)                                      \
    {"toed", name, type, fallback, variable, name, "toed", change, false, help},
#define IN_PROGRAM(name, variable, type, fallback, change, help)                                   \
    {"inline", name, type, fallback, NULL, name, "run", CONFIG_AT_START, false, help},

/* Settings of libtoe: S(name, variable, option, type, default, help) */
#define IN_RUN(name, variable, option, type, fallback, help)                                       \
    {                                                                                              \
        "run", name, type, fallback, variable, option, "run", CONFIG_AT_START, false, help         \
    }

const struct config_setting config_settings[] = {
    {"", "profile", WORD("latency|throughput|low-cpu|nginx|redis"), NULL, "TOEHOLD_PROFILE",
     "profile", "toed, run", CONFIG_RELOAD, false,
     "a named set of settings; each setting that is given wins over it"},
    {"", "socket", TEXT, TOEDEV_DEFAULT_SOCKET, TOEDEV_SOCKET_ENV, "socket", "toed, toehold",
     CONFIG_RESTART, false, "the socket of toed, where programs attach"},

    {"log", "level", WORD("error|warning|info|debug"), "info", "TOEHOLD_LOG_LEVEL", "log-level",
     "toed", CONFIG_RELOAD, false, "the least severe messages that are logged"},
    {"log", "format", WORD("auto|plain|text|json|journal"), "auto", "TOEHOLD_LOG_FORMAT",
     "log-format", "toed", CONFIG_RELOAD, false,
     "auto: journal for the systemd journal, text on a terminal, else plain"},

    {"toed", "ip", CONFIG_PREFIX4, 0, 0, "shared", NULL, "TOEHOLD_TOED_IP", "ip", "toed",
     CONFIG_RESTART, false,
     "IPv4 address and the length of its on-link prefix; shared: the interface's own addresses"},
    {"toed", "force", FLAG, "false", "TOEHOLD_TOED_FORCE", "force", "toed", CONFIG_RESTART, false,
     "share an address also on the interface of the default route"},
    {"toed", "check-ip", FLAG, "false", "TOEHOLD_TOED_CHECK_IP", "check-ip", "toed", CONFIG_RESTART,
     false, "end when another host has the address (RFC 5227)"},
    ENGINE_SETTINGS(IN_TOED){"toed", "user", TEXT, NULL, "TOEHOLD_TOED_USER", "user", "toed",
                             CONFIG_RESTART, false,
                             "user that may attach besides root; default: none"},
    {"toed", "group", TEXT, NULL, "TOEHOLD_TOED_GROUP", "group", "toed", CONFIG_RESTART, false,
     "group that may attach; default: only root's"},
    {"toed", "run-as", TEXT, NULL, "TOEHOLD_TOED_RUN_AS", "run-as", "toed", CONFIG_TAKE_OVER, false,
     "USER or USER:GROUP of toed once all is open; default: stays"},
    {"toed", "sandbox", FLAG, "true", "TOEHOLD_TOED_SANDBOX", "sandbox", "toed", CONFIG_TAKE_OVER,
     false, "filter system calls, drop capabilities"},
    {"toed", "user-limits", PAIRS(LIMITS), NULL, "TOEHOLD_TOED_USER_LIMITS", "user-limits", "toed",
     CONFIG_RELOAD, false,
     "what each user but root may have: qps=4,slots=1000; default: no limits"},
    {"toed", "engines", NUMBER(1, ENGINES_MAX), "1", "TOEHOLD_TOED_ENGINES", "engines", "toed",
     CONFIG_RESTART, false, "threads, each with a queue of the interface"},
    {"toed", "max-qps", NUMBER(1, 1024), "128", "TOEHOLD_TOED_MAX_QPS", "max-qps", "toed",
     CONFIG_TAKE_OVER, false, "queue pairs per engine"},
    {"toed", "max-memory", NUMBER(1, UINT32_MAX), "65536", "TOEHOLD_TOED_MAX_MEMORY", "max-memory",
     "toed", CONFIG_RELOAD, false, "MiB of address space for queue pairs, all together"},
    {"toed", "moderation", WORD("auto|off|10|25|50|100|250|500"), "auto", "TOEHOLD_TOED_MODERATION",
     "moderation", "toed", CONFIG_RELOAD, false,
     "microseconds that frames may wait while an engine sleeps; auto: follows the load"},
    {"toed", "manager", WORD("interrupts|polling"), "interrupts", "TOEHOLD_TOED_MANAGER", "manager",
     "toed", CONFIG_TAKE_OVER, false, "what notifies programs of events"},
    {"toed", "manager-cpu", NUMBER(0, CPU_MAX), NULL, "TOEHOLD_TOED_MANAGER_CPU", "manager-cpu",
     "toed", CONFIG_TAKE_OVER, false, "CPU of the polling manager; default: any"},
    {"toed", "seed", CONFIG_HEX, 1, 64, NULL, NULL, NULL, "seed", "toed", CONFIG_RESTART, true,
     "for tests: fixes the secret behind sequence numbers and ports"},

    IN_RUN("engine", "TOEHOLD_ENGINE", "engine", WORD("toed|inline|thread|gateware|hybrid"), "toed",
           "where the TOE of the command runs"),
    IN_RUN("require", "TOEHOLD_REQUIRE", "require", FLAG, "false",
           "fail instead of running on the kernel's TCP"),
    IN_RUN("report", "TOEHOLD_REPORT", "report", FLAG, "false",
           "report which sockets the TOE does not carry, and why"),
    IN_RUN("busy-poll-us", "TOEHOLD_BUSY_POLL_US", "busy-poll-us", NUMBER(0, 1000000), "0",
           "microseconds to poll before sleeping"),
    IN_RUN("slots", "TOEHOLD_SLOTS", NULL, POWER(1, TOEDEV_SLOTS_MAX), "4096",
           "connections per queue pair"),
    IN_RUN("tx-size", "TOEHOLD_TX_SIZE", NULL, POWER(TOEDEV_BUFFER_MIN, TOEDEV_BUFFER_MAX), "65536",
           "most bytes of send buffer per connection"),
    IN_RUN("rx-size", "TOEHOLD_RX_SIZE", NULL, POWER(TOEDEV_BUFFER_MIN, TOEDEV_BUFFER_MAX), "65536",
           "bytes of receive buffer per connection"),
    IN_RUN("irq-count", "TOEHOLD_IRQ_COUNT", NULL, NUMBER(0, 65536), "0",
           "commands before a wake-up; with irq-usec 0: follow the load"),
    IN_RUN("irq-usec", "TOEHOLD_IRQ_USEC", NULL, NUMBER(0, 1000000), "0",
           "microseconds before a wake-up"),
    IN_RUN("hold-min", "TOEHOLD_HOLD_MIN", NULL, NUMBER(0, UINT32_MAX), "1024",
           "engine inline: least payload of a frame that is read in place; 0: never"),
    IN_RUN("zerocopy-min", "TOEHOLD_ZEROCOPY_MIN", NULL, NUMBER(1, UINT32_MAX), "4096",
           "least bytes that MSG_ZEROCOPY does not copy"),
    IN_RUN("inline-batch", "TOEHOLD_INLINE_BATCH", NULL, FLAG, "true",
           "engine inline: send what a round of the program wrote together"),
    IN_RUN("io-uring", "TOEHOLD_IO_URING", NULL, FLAG, "false",
           "let programs use io_uring, which bypasses the TOE"),

    {"inline", "ip", CONFIG_PREFIX4, 0, 0, NULL, NULL, NULL, "ip", "run", CONFIG_AT_START, false,
     "IPv4 address and the length of its on-link prefix"},
    ENGINE_SETTINGS(IN_PROGRAM){"inline", "socket", TEXT, NULL, NULL, "socket", "run",
                                CONFIG_AT_START, false, "socket for statistics"},
    {"inline", "linger-ms", NUMBER(0, 60000), "1000", NULL, "linger-ms", "run", CONFIG_AT_START,
     false, "time for connections to finish at exit"},
    {"inline", "seed", CONFIG_HEX, 1, 64, NULL, NULL, NULL, "seed", "run", CONFIG_AT_START, true,
     "for tests: fixes the secret behind sequence numbers and ports"},
};
const size_t config_count = sizeof config_settings / sizeof config_settings[0];

const struct config_setting *config_find(const char *section, const char *name)
{
    size_t i;

    for (i = 0; i < config_count; i++)
        if (strcmp(config_settings[i].section, section) == 0 &&
            strcmp(config_settings[i].name, name) == 0)
            return &config_settings[i];
    return NULL;
}

const struct config_setting *config_find_flag(const char *section, const char *flag, size_t len)
{
    size_t i;

    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        if (s->flag && strcmp(s->section, section) == 0 && strlen(s->flag) == len &&
            memcmp(s->flag, flag, len) == 0)
            return s;
    }
    return NULL;
}
