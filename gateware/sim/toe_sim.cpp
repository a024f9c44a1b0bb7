/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_sim.cpp - the gateware TOE as a process: speaks the device contract on the same socket as
 * toed, so that libtoe and every tool find it where toed would be. card.h is the hardware, hosts.h
 * the socket; packets come from a port (port.h).
 */
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <getopt.h>
#include <memory>
#include <poll.h>
#include <random>
#include <string>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

#include <arpa/inet.h>

#include "card.h"
#include "hosts.h"
#include "port.h"
#include "regs.h"
#include "toe_counters.h"

namespace sim
{

void die(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    std::fputs("toe_sim: ", stderr);
    std::vfprintf(stderr, format, args);
    std::fputc('\n', stderr);
    va_end(args);
    std::exit(code);
}

uint64_t now_ns()
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

} // namespace sim

namespace
{

using sim::die;

constexpr unsigned kBurst = 64;        /* cycles between looks at the world */
constexpr uint64_t kIdleNs = 1u << 20; /* virtual time passes so fast when nothing happens */
constexpr uint64_t kStart = uint64_t{1} << 32; /* virtual time's first nanosecond */

volatile sig_atomic_t stop_asked;

struct Options {
    std::string port, regs, trigger;
    uint64_t seed = 0, cycles = ~uint64_t{0};
    int life = -1;
    sim::Card::Options card;
    sim::Hosts::Options hosts;
};

class Simulation
{
  public:
    explicit Simulation(const Options &o)
        : options_(o), hosts_(o.hosts), port_(sim::open_port(o.port)),
          card_(o.card, {[this](uint64_t address) { return memory(address); },
                         [this](unsigned q) { hosts_.interrupt(q); },
                         [this](const sim::Frame &f) { lost_ += !port_->send(f, card_.time()); }}),
          server_(
              o.regs, [this](uint32_t a, uint32_t &v) { return card_.read(a, v); },
              [this](uint32_t a, uint32_t v) { return card_.write(a, v); })
    {
        pass_time();
        sim::start(card_, o.hosts, o.seed);
        hosts_.use(&card_);
        for (size_t i = 0; i < sizeof toe_counters / sizeof toe_counters[0]; i++)
            if (o.trigger == toe_counters[i])
                trigger_ = TOE_AT(COUNTERS) + 8 * static_cast<uint32_t>(i);
        if (!o.trigger.empty() && !trigger_)
            die(2, "--fst-on %s: no such counter; toehold stats lists them", o.trigger.c_str());
    }

    void run()
    {
        std::printf("toe_sim: ready on %s, %u flows\n", options_.hosts.socket.c_str(),
                    hosts_.flows());
        std::fflush(stdout);
        while (!stop_asked && !life_is_over() && card_.cycles() < options_.cycles) {
            look();
            for (unsigned i = 0; i < kBurst; i++)
                card_.cycle();
            if (card_.quiet() > 2 * hosts_.flows() + 4096)
                idle();
        }
        if (options_.life < 0)
            report();
    }

  private:
    uint8_t *memory(uint64_t address)
    {
        uint8_t *at = hosts_.memory(address);

        if (!at && !told_++)
            std::fprintf(stderr,
                         "toe_sim: the TOE reached for host memory that is not there: %llx\n",
                         static_cast<unsigned long long>(address));
        return at;
    }

    void pass_time()
    {
        if (!options_.card.virtual_time)
            card_.set_time(sim::now_ns());
        else if (card_.time() < kStart)
            card_.set_time(kStart);
    }

    void look()
    {
        sim::Frame frame;

        pass_time();
        while (card_.waiting() < 64 && port_->receive(frame, card_.time()))
            card_.receive(frame);
        hosts_.look();
        if (trigger_ && card_.reg(trigger_)) {
            card_.trigger();
            trigger_ = 0;
        }
        if (++looks_ % 16 == 0) {
            hosts_.serve();
            server_.serve();
        }
    }

    /* Until something happens, or a timer may be due. */
    void idle()
    {
        std::vector<struct pollfd> fds;

        hosts_.say_asleep(true);
        card_.rest(1);
        hosts_.look();
        if (card_.quiet() && !port_->awake()) {
            hosts_.add_to(fds);
            server_.add_to(fds);
            if (port_->fd() >= 0)
                fds.push_back({port_->fd(), POLLIN, 0});
            if (options_.life >= 0)
                fds.push_back({options_.life, POLLIN, 0});
            poll(fds.data(), fds.size(), options_.card.virtual_time ? 1 : 5);
        }
        if (options_.card.virtual_time)
            card_.set_time(card_.time() + kIdleNs);
        hosts_.say_asleep(false);
        hosts_.serve();
        server_.serve();
        card_.rest(4096); /* time enough for a scan of the timers */
    }

    /* All who hold the other end of the pipe have gone, and their queue pairs. */
    bool life_is_over()
    {
        char byte;

        return options_.life >= 0 && looks_ % 16 == 0 && !hosts_.any() &&
               read(options_.life, &byte, 1) == 0;
    }

    void report()
    {
        std::fprintf(stderr, "toe_sim: %llu cycles, %llu strayed, %llu unlawful, %llu not sent\n",
                     static_cast<unsigned long long>(card_.cycles()),
                     static_cast<unsigned long long>(card_.strayed),
                     static_cast<unsigned long long>(card_.unlawful),
                     static_cast<unsigned long long>(lost_));
        for (size_t i = 0; i < sizeof toe_counters / sizeof toe_counters[0]; i++) {
            uint32_t n = card_.reg(TOE_AT(COUNTERS) + 8 * static_cast<uint32_t>(i));

            if (n)
                std::fprintf(stderr, "  %s %u\n", toe_counters[i], n);
        }
    }

    Options options_;
    sim::Hosts hosts_;
    std::unique_ptr<sim::Port> port_;
    sim::Card card_;
    sim::RegServer server_;
    uint64_t looks_ = 0, lost_ = 0, told_ = 0;
    uint32_t trigger_ = 0;
};

void on_signal(int)
{
    stop_asked = 1;
}

/* A call that a host has made to wait for it ends by this. */
void end_waits()
{
    struct sigaction act = {};
    const struct itimerval each = {{0, 100000}, {0, 100000}};

    act.sa_handler = [](int) {};
    sigaction(SIGALRM, &act, nullptr); /* not SA_RESTART */
    setitimer(ITIMER_REAL, &each, nullptr);
}

const char kUsage[] =
    "usage: toe_sim --port SPEC --ip ADDRESS/LENGTH [OPTION...]\n"
    "The gateware TOE, simulated, where toed would be.\n"
    "  --port SPEC      tap:NAME, packet:IFNAME, wire:PATH, pcap:...; netio/README.md has them\n"
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
    "  --pcap FILE      records packets as pcapng, cycle numbers as comments\n"
    "  --fst FILE       waveform (in a build with traces: scripts/gateware sim toe_sim --trace), "
    "of\n"
    "  --fst-from CYCLE   ... what comes from this cycle on, or\n"
    "  --fst-on COUNTER   ... from when this counter first moves,\n"
    "  --fst-cycles N     ... so many cycles\n"
    "Exit codes: 0 after SIGINT or SIGTERM, 1 failed, 2 usage.\n";

uint64_t count(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char *end;
    uint64_t v = std::strtoull(text, &end, 0);

    if (end == text || *end || text[0] == '-' || v < min || v > max)
        die(2, "--%s %s: a number from %llu to %llu", option, text,
            static_cast<unsigned long long>(min), static_cast<unsigned long long>(max));
    return v;
}

const struct option kKnown[] = {
    {"port", 1, nullptr, 'p'},       {"ip", 1, nullptr, 'i'},       {"gateway", 1, nullptr, 'g'},
    {"mac", 1, nullptr, 'm'},        {"mtu", 1, nullptr, 'u'},      {"socket", 1, nullptr, 's'},
    {"seed", 1, nullptr, 'r'},       {"regs", 1, nullptr, 'R'},     {"time", 1, nullptr, 't'},
    {"stall", 1, nullptr, 'l'},      {"delay", 1, nullptr, 'd'},    {"pcap", 1, nullptr, 'o'},
    {"fst", 1, nullptr, 'f'},        {"fst-from", 1, nullptr, 'a'}, {"fst-on", 1, nullptr, 'n'},
    {"fst-cycles", 1, nullptr, 'c'}, {"cycles", 1, nullptr, 'C'},   {"life", 1, nullptr, 'L'},
    {"congestion", 1, nullptr, 'q'}, {"ip6", 1, nullptr, 'I'},      {"gateway6", 1, nullptr, 'G'},
    {"help", 0, nullptr, 'h'},       {nullptr, 0, nullptr, 0}};

void parse_address(Options &o, const std::string &value)
{
    size_t slash = value.find('/');

    if (slash == std::string::npos ||
        inet_pton(AF_INET, value.substr(0, slash).c_str(), o.hosts.ip) != 1 ||
        std::sscanf(value.c_str() + slash + 1, "%u", &o.hosts.prefix) != 1 || o.hosts.prefix > 32)
        die(2, "--ip %s: an address and its prefix, as 10.0.0.1/24", value.c_str());
}

void parse_address6(Options &o, const std::string &value)
{
    size_t slash = value.find('/');
    sim::Ip6 &ip6 = o.hosts.ip6;

    if (slash == std::string::npos ||
        inet_pton(AF_INET6, value.substr(0, slash).c_str(), ip6.own) != 1)
        die(2, "--ip6 %s: an address and its prefix, as fd00::1/64", value.c_str());
    ip6.prefix = static_cast<unsigned>(count("ip6", value.c_str() + slash + 1, 1, 128));
    if (ip6.own[0] == 0xff || (ip6.own[0] == 0xfe && (ip6.own[1] & 0xc0) == 0x80) ||
        std::count(ip6.own, ip6.own + 15, 0) == 15)
        die(2, "--ip6 %s: neither multicast nor link-local nor loopback", value.c_str());
}

void parse_mac(Options &o, const char *value)
{
    unsigned octet[6];

    if (std::sscanf(value, "%x:%x:%x:%x:%x:%x", &octet[0], &octet[1], &octet[2], &octet[3],
                    &octet[4], &octet[5]) != 6)
        die(2, "--mac %s: six octets, as 02:00:00:00:00:01", value);
    for (unsigned i = 0; i < 6; i++)
        o.hosts.mac[i] = static_cast<uint8_t>(octet[i]);
}

Options parse(int argc, char **argv)
{
    Options o;
    int c;

    while ((c = getopt_long(argc, argv, "", kKnown, nullptr)) != -1) {
        std::string value = optarg ? optarg : "";

        switch (c) {
        case 'p':
            o.port = value;
            break;
        case 'i':
            parse_address(o, value);
            break;
        case 'g':
            if (inet_pton(AF_INET, value.c_str(), o.hosts.gateway) != 1)
                die(2, "--gateway %s: no IPv4 address", value.c_str());
            break;
        case 'I':
            parse_address6(o, value);
            break;
        case 'G':
            if (inet_pton(AF_INET6, value.c_str(), o.hosts.ip6.gateway) != 1)
                die(2, "--gateway6 %s: no IPv6 address", value.c_str());
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
            o.trigger = value;
            o.card.fst_waits = true;
            break;
        case 'c':
            o.card.fst_cycles = count("fst-cycles", optarg, 1, UINT64_MAX);
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
        default:
            std::fputs(kUsage, stderr);
            std::exit(2);
        }
    }
    if (o.port.empty() || o.hosts.ip[0] == 0 || optind != argc)
        die(2, "--port and --ip are needed, and nothing else than options; --help tells more");
    if (!o.hosts.ip6.prefix && o.hosts.ip6.gateway[0])
        die(2, "--gateway6 is of --ip6");
    if (!VM_TRACE_FST && !o.card.fst.empty())
        die(2, "--fst: this build has no waveforms (scripts/gateware sim toe_sim --trace)");
    if (o.card.fst.empty() && (o.card.fst_from || o.card.fst_waits || o.card.fst_cycles))
        die(2, "--fst-from, --fst-on and --fst-cycles are of --fst FILE");
    return o;
}

} // namespace

int main(int argc, char **argv)
{
    Options options = parse(argc, argv);

    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    end_waits();
    if (options.life >= 0)
        fcntl(options.life, F_SETFL, O_NONBLOCK);
    Simulation(options).run();
    return 0;
}
