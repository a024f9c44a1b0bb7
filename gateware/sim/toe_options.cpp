/* SPDX-License-Identifier: Apache-2.0 */
#include "toe_options.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <unistd.h>

#include <toe/long_option.h>
#include <toe/number.h>

#include "toe_counters.h"

namespace sim
{
namespace
{

const char kUsage[] =
    "usage: toe_sim --netif SPEC --ip ADDRESS/LENGTH [OPTION...]\n"
#if TOE_HYBRID
    "The hybrid TOE, simulated, where toed would be.\n"
#else
    "The gateware TOE, simulated, where toed would be.\n"
#endif
    "  --netif SPEC     tap:NAME, packet:IFNAME, wire:PATH, pcap:...; netio/README.md has them\n"
    "  --ip A/LENGTH    its IPv4 address\n"
    "  --gateway A      its router\n"
    "  --ip6 A/LENGTH   its IPv6 address, beside the link-local one\n"
    "  --gateway6 A     its router there\n"
    "  --mac M          its Ethernet address\n"
    "  --mtu N          of the link, 576 to 1500 (1500)\n"
    "  --congestion NAME  of connections that ask for none: cubic, reno (cubic)\n"
    "  --socket PATH    where hosts find it (" TOEDEV_DEFAULT_SOCKET ")\n"
    "  --regs PATH      offers all registers on this Unix socket (toehold reg --bar sim:PATH)\n"
    "  --seed N         of its secrets; 0: the system's random numbers\n"
    "  --time wall|virtual  the machine's clock, or 4 ns a cycle and a millisecond whenever "
    "nothing\n"
    "                   happens (wall)\n"
    "  --stall PERCENT  cycles in which link and bus withhold ready, 0 to 90 (0)\n"
    "  --delay CYCLES   until host memory answers, 1 to 10000 (1)\n"
    "  --cycles N       ends after so many\n"
#if TOE_HYBRID
    "  --firmware FILE  image of the processor (toe.bin beside this program)\n"
#endif
    "  --pcap FILE      records packets as pcapng, cycle numbers as comments\n"
    "  --fst FILE       waveform (in a build with traces: scripts/gateware sim toe_sim --trace), "
    "of\n"
    "  --fst-from CYCLE   ... what comes from this cycle on, or\n"
    "  --fst-on COUNTER   ... from when this counter first moves,\n"
    "  --fst-cycles N     ... so many cycles\n"
    "Exit codes: 0 after SIGINT, SIGTERM or --cycles, 1 failed, 2 usage.\n";

uint64_t count(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number_c(text, min, max, &v, want, sizeof want))
        die(2, "--%s %s: want %s", option, text, want);
    return v;
}

const struct option kKnown[] = {
    {"netif", 1, nullptr, 'p'},      {"ip", 1, nullptr, 'i'},       {"gateway", 1, nullptr, 'g'},
    {"mac", 1, nullptr, 'm'},        {"mtu", 1, nullptr, 'u'},      {"socket", 1, nullptr, 's'},
    {"seed", 1, nullptr, 'r'},       {"regs", 1, nullptr, 'R'},     {"time", 1, nullptr, 't'},
    {"stall", 1, nullptr, 'l'},      {"delay", 1, nullptr, 'd'},    {"pcap", 1, nullptr, 'o'},
    {"fst", 1, nullptr, 'f'},        {"fst-from", 1, nullptr, 'a'}, {"fst-on", 1, nullptr, 'n'},
    {"fst-cycles", 1, nullptr, 'c'}, {"cycles", 1, nullptr, 'C'},   {"life", 1, nullptr, 'L'},
    {"congestion", 1, nullptr, 'q'}, {"ip6", 1, nullptr, 'I'},      {"gateway6", 1, nullptr, 'G'},
#if TOE_HYBRID
    {"firmware", 1, nullptr, 'F'},
#endif
    {"help", 0, nullptr, 'h'},       {nullptr, 0, nullptr, 0}};

int counter(const char *name)
{
    for (size_t i = 0; i < sizeof toe_counters / sizeof toe_counters[0]; i++)
        if (std::strcmp(name, toe_counters[i]) == 0)
            return static_cast<int>(i);
    die(2, "--fst-on %s: no such counter; toehold stats lists them", name);
}

/* Parses ADDRESS/LENGTH; returns the length, from 1 to max. */
unsigned parse_prefix(const char *option, int family, const char *text, uint8_t *address,
                      unsigned max)
{
    const std::string value = text;
    size_t slash = value.find('/');
    uint64_t length;

    if (slash == std::string::npos ||
        inet_pton(family, value.substr(0, slash).c_str(), address) != 1)
        die(2, "--%s %s: want an address and prefix length, such as %s", option, text,
            family == AF_INET ? "10.0.0.1/24" : "fd00::1/64");
    if (!toe_number(text + slash + 1, 1, max, &length, nullptr, 0))
        die(2, "--%s %s: want a prefix length from 1 to %u", option, text, max);
    return static_cast<unsigned>(length);
}

void parse_ip(Options &o, const char *text)
{
    const uint8_t *ip = o.hosts.ip;

    o.hosts.prefix = parse_prefix("ip", AF_INET, text, o.hosts.ip, 32);
    if (ip[0] == 0 || ip[0] == 127 || ip[0] >= 224)
        die(2, "--ip %s: want a unicast address that is not loopback", text);
}

/* Returns false for ::, ::1, mapped and multicast addresses. */
bool unicast6(const uint8_t address[16])
{
    struct in6_addr in;

    std::memcpy(&in, address, sizeof in);
    return !IN6_IS_ADDR_UNSPECIFIED(&in) && !IN6_IS_ADDR_LOOPBACK(&in) &&
           !IN6_IS_ADDR_V4MAPPED(&in) && !IN6_IS_ADDR_MULTICAST(&in);
}

void parse_ip6(Options &o, const char *text)
{
    Ip6 &ip6 = o.hosts.ip6;

    ip6.prefix = parse_prefix("ip6", AF_INET6, text, ip6.own, 128);
    if (!unicast6(ip6.own) || (ip6.own[0] == 0xfe && (ip6.own[1] & 0xc0) == 0x80))
        die(2, "--ip6 %s: want a unicast address that is neither loopback nor link-local", text);
}

void parse_mac(Options &o, const char *text)
{
    if (!toe_mac(text, o.hosts.mac) || o.hosts.mac[0] & 1)
        die(2, "--mac %s: want a unicast Ethernet address, such as 02:00:00:00:00:01", text);
}

uint32_t number(const uint8_t ip[4])
{
    return static_cast<uint32_t>(ip[0]) << 24 | static_cast<uint32_t>(ip[1]) << 16 |
           static_cast<uint32_t>(ip[2]) << 8 | ip[3];
}

/* Checks that address, prefix and gateway are consistent. */
void check_addresses(const Own &own)
{
    const uint32_t ip = number(own.ip), gateway = number(own.gateway);
    const uint32_t host = own.prefix == 32 ? 0 : UINT32_MAX >> own.prefix;
    static const uint8_t none[16] = {};

    if (own.prefix < 31 && ((ip & host) == 0 || (ip & host) == host))
        die(2, "--ip: the %s address of the prefix cannot be the TOE's",
            (ip & host) == 0 ? "network" : "broadcast");
    if (gateway && (gateway == ip || ((gateway ^ ip) & ~host) != 0))
        die(2, "--gateway: want another address within the prefix of --ip");
    if (!own.ip6.prefix && std::memcmp(own.ip6.gateway, none, sizeof none) != 0)
        die(2, "--gateway6: want --ip6 too");
    if (own.ip6.prefix && std::memcmp(own.ip6.gateway, own.ip6.own, sizeof none) == 0)
        die(2, "--gateway6: want another address than that of --ip6");
}

void check(const Options &o)
{
    if (o.netif.empty() || o.hosts.ip[0] == 0)
        die(2, "--%s is missing; --help shows the options", o.netif.empty() ? "netif" : "ip");
    check_addresses(o.hosts);
    if (!VM_TRACE_FST && !o.card.fst.empty())
        die(2, "--fst: this build has no waveforms (scripts/gateware sim toe_sim --trace)");
    if (o.card.fst.empty() && (o.card.fst_from || o.card.fst_waits || o.card.fst_cycles))
        die(2, "--fst-from, --fst-on and --fst-cycles are of --fst FILE");
}

/* Returns the path of a file in this program's folder. */
std::string beside(const char *name)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    std::string path(self, n > 0 ? static_cast<size_t>(n) : 0);

    return path.substr(0, path.rfind('/') + 1) + name;
}

} // namespace

Options parse(int argc, char **argv)
{
    Options o;
    int c, at;

    opterr = 0;
    while (at = -1, (c = getopt_long(argc, argv, ":", kKnown, &at)) != -1) {
        std::string value = optarg ? optarg : "";

        if (at >= 0 && !toe_long_option_in_full(argv, optind, optarg, kKnown[at].name))
            die(2, "there is no option '%s'; write --%s in full, or --help shows the options",
                toe_long_option_word(argv, optind, optarg), kKnown[at].name);

        switch (c) {
        case 'p':
            o.netif = value;
            break;
        case 'i':
            parse_ip(o, optarg);
            break;
        case 'g':
            if (inet_pton(AF_INET, optarg, o.hosts.gateway) != 1)
                die(2, "--gateway %s: want an IPv4 address", optarg);
            break;
        case 'I':
            parse_ip6(o, optarg);
            break;
        case 'G':
            if (inet_pton(AF_INET6, optarg, o.hosts.ip6.gateway) != 1 ||
                !unicast6(o.hosts.ip6.gateway))
                die(2, "--gateway6 %s: want a unicast IPv6 address", optarg);
            break;
        case 'm':
            parse_mac(o, optarg);
            break;
        case 'u':
            o.hosts.mtu = static_cast<unsigned>(count("mtu", optarg, 576, 1500));
            break;
        case 'q':
            o.hosts.newreno = value == "reno";
            if (value != "reno" && value != "cubic")
                die(2, "--congestion %s: cubic or reno", optarg);
            break;
        case 's':
            o.hosts.socket = value;
            break;
        case 'r':
            o.seed = count("seed", optarg, 0, UINT64_MAX);
            break;
        case 'R':
            o.regs = value;
            break;
        case 't':
            o.card.virtual_time = value == "virtual";
            if (value != "virtual" && value != "wall")
                die(2, "--time %s: wall or virtual", optarg);
            break;
        case 'l':
            o.card.stall = static_cast<unsigned>(count("stall", optarg, 0, 90));
            break;
        case 'd':
            o.card.delay = static_cast<unsigned>(count("delay", optarg, 1, 10000));
            break;
        case 'o':
            o.card.pcap = value;
            break;
        case 'f':
            o.card.fst = value;
            break;
        case 'a':
            o.card.fst_from = count("fst-from", optarg, 0, UINT64_MAX);
            break;
        case 'n':
            o.trigger = counter(optarg);
            o.card.fst_waits = true;
            break;
        case 'c':
            o.card.fst_cycles = count("fst-cycles", optarg, 1, UINT64_MAX);
            break;
        case 'F':
            o.card.firmware = value;
            break;
        case 'C':
            o.cycles = count("cycles", optarg, 1, UINT64_MAX);
            break;
        case 'L':
            o.life = static_cast<int>(count("life", optarg, 0, 1 << 20));
            break;
        case 'h':
            std::fputs(kUsage, stdout);
            std::exit(0);
        case ':':
            die(2, "%s: want a value; --help shows the options", argv[optind - 1]);
        default:
            if (optopt)
                die(2, "there is no option '-%c'; --help shows the options", optopt);
            die(2, "there is no option '%s'; --help shows the options", argv[optind - 1]);
        }
    }
    if (o.card.firmware.empty())
        o.card.firmware = beside("toe.bin");
    if (optind != argc)
        die(2, "'%s': options only; --help shows them", argv[optind]);
    check(o);
    return o;
}

} // namespace sim
