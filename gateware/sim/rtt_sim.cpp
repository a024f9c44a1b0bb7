// SPDX-License-Identifier: Apache-2.0
// rtt_sim.cpp - the RTT measuring module as a process: Verilated rtt between two packet ports, or
// in front of a path of known delay, with its registers on a Unix socket. README.md describes its
// use.
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <getopt.h>
#include <map>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include <verilated.h>
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

#include "Vrtt.h"
#include "Vrtt___024root.h"
#include "axis.h"
#include "path.h"
#include "pcapng.h"
#include "pci.h"
#include "port.h"
#include "regs.h"

#include <toe/long_option.h>
#include <toe/number.h>
#include <toe/rtt_regs.h>

namespace
{

using sim::Frame;

constexpr uint64_t kTickNs = 4;
constexpr int kSettled = 64; // cycles without a beat until the pipeline is empty
constexpr int kBatch = 256;  // cycles between two looks at ports and sockets
constexpr uint32_t kRingWords = 4;

const char kUsage[] =
    "usage: rtt_sim [OPTION]...\n"
    "  --host SPEC      where packets that leave come from: a specification of netio (tap:NAME,\n"
    "                   wire:PATH, af_xdp:NAME, pcap:..., impair(...):...) or packet:IFNAME\n"
    "  --net SPEC       where they go to, and what arrives comes from\n"
    "  --path OPTIONS   instead of --net: a path of known delay that brings each packet back\n"
    "                   (cable=METRES,mac=NS,jitter=none|uniform:NS|normal:NS|exp:NS,loss=P,\n"
    "                   dup=P,seed=N)\n"
    "  --probes N       instead of --host: sends N UDP packets with a tag at the payload's start,\n"
    "  --gap CYCLES     so many cycles from one to the next (default 200),\n"
    "  --size BYTES     so large, without FCS (default 60, 60..1514)\n"
    "  --regs PATH      offers the registers on this Unix socket\n"
    "  --pci PATH       offers them to QEMU's x-pci-proxy-dev, as a PCI function, on this Unix "
    "socket\n"
    "  --set NAME=VALUE writes a register at the start (repeat)\n"
    "  --time wall|virtual  the counter follows the machine's clock, or only cycles count\n"
    "                   (default: virtual with --path, wall otherwise)\n"
    "  --start N        the counter's first value\n"
    "  --stall P        ready is withheld so often (default 0)\n"
    "  --pcap FILE      records both streams as pcapng, cycle numbers as comments\n"
    "  --fst FILE       waveform (in a build with traces)\n"
    "  --truth FILE     of each packet on --path: number, when it left and arrived in ns\n"
    "  --samples FILE   reads RING and writes each sample: ticks, value, arrival\n"
    "  --stay           with --probes: serves registers after the last probe\n";

volatile std::sig_atomic_t stop_asked;

void on_signal(int)
{
    stop_asked = 1;
}

[[noreturn]] void usage(const std::string &why)
{
    std::fprintf(stderr, "rtt_sim: %s\n%s", why.c_str(), kUsage);
    std::exit(2);
}

struct Options {
    std::string host, net, path, regs, pci, pcap, fst, truth, samples;
    std::vector<std::string> set;
    uint64_t probes = 0, gap = 200, size = 60, start = 0;
    double stall = 0;
    bool has_path = false, wall = false, time_said = false, stay = false;
};

uint64_t number(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number_c(text, min, max, &v, want, sizeof want))
        usage(std::string("--") + option + " " + text + ": want " + want);
    return v;
}

Options parse(int argc, char **argv)
{
    static const struct option longs[] = {
        {"host", 1, nullptr, 'h'},   {"net", 1, nullptr, 'n'},   {"path", 1, nullptr, 'p'},
        {"probes", 1, nullptr, 'c'}, {"gap", 1, nullptr, 'g'},   {"size", 1, nullptr, 's'},
        {"regs", 1, nullptr, 'r'},   {"set", 1, nullptr, 'w'},   {"time", 1, nullptr, 't'},
        {"start", 1, nullptr, 'a'},  {"stall", 1, nullptr, 'l'}, {"pcap", 1, nullptr, 'o'},
        {"fst", 1, nullptr, 'f'},    {"truth", 1, nullptr, 'u'}, {"samples", 1, nullptr, 'm'},
        {"stay", 0, nullptr, 'y'},   {"pci", 1, nullptr, 'i'},   {"help", 0, nullptr, '?'},
        {nullptr, 0, nullptr, 0},
    };
    Options o;
    int c, at;

    while (at = -1, (c = getopt_long(argc, argv, "", longs, &at)) != -1) {
        if (at >= 0 && !toe_long_option_in_full(argv, optind, optarg, longs[at].name)) {
            std::fprintf(stderr, "rtt_sim: there is no option '%s'; write --%s in full\n",
                         toe_long_option_word(argv, optind, optarg), longs[at].name);
            std::exit(2);
        }
        switch (c) {
        case 'h':
            o.host = optarg;
            break;
        case 'n':
            o.net = optarg;
            break;
        case 'p':
            o.path = optarg;
            o.has_path = true;
            break;
        case 'c':
            o.probes = number("probes", optarg, 1, UINT32_MAX);
            break;
        case 'g':
            o.gap = number("gap", optarg, 1, UINT32_MAX);
            break;
        case 's':
            o.size = number("size", optarg, 60, 1514);
            break;
        case 'r':
            o.regs = optarg;
            break;
        case 'i':
            o.pci = optarg;
            break;
        case 'w':
            o.set.emplace_back(optarg);
            break;
        case 't':
            o.wall = std::string(optarg) == "wall";
            o.time_said = true;
            if (!o.wall && std::string(optarg) != "virtual")
                usage("--time is wall or virtual");
            break;
        case 'a':
            o.start = number("start", optarg, 0, UINT64_MAX);
            break;
        case 'l':
            o.stall = static_cast<double>(number("stall", optarg, 0, 99)) / 100;
            break;
        case 'o':
            o.pcap = optarg;
            break;
        case 'f':
            o.fst = optarg;
            break;
        case 'u':
            o.truth = optarg;
            break;
        case 'm':
            o.samples = optarg;
            break;
        case 'y':
            o.stay = true;
            break;
        default:
            std::fputs(kUsage, stderr);
            std::exit(2);
        }
    }
    if (optind != argc)
        usage(std::string("what is '") + argv[optind] + "'?");
    if (o.has_path == !o.net.empty())
        usage("either --net or --path");
    if ((o.probes != 0) == !o.host.empty())
        usage("either --host or --probes");
    if (!o.time_said)
        o.wall = !o.has_path;
    if (!VM_TRACE_FST && !o.fst.empty())
        usage("--fst: this build has no traces (scripts/gateware sim --trace)");
    return o;
}

std::map<std::string, uint32_t> register_names()
{
    std::map<std::string, uint32_t> names;

#define REG(name, offset, bytes, count, stride, access, text) names[name] = offset;
    RTT_REGS_TABLE(REG)
#undef REG
    return names;
}

uint64_t monotonic_ns()
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

std::FILE *create(const std::string &path)
{
    std::FILE *f = path.empty() ? nullptr : std::fopen(path.c_str(), "w");

    if (!path.empty() && !f) {
        std::perror(path.c_str());
        std::exit(1);
    }
    return f;
}

class Simulation
{
  public:
    explicit Simulation(const Options &o);
    ~Simulation();
    Simulation(const Simulation &) = delete;
    Simulation &operator=(const Simulation &) = delete;
    int run();

  private:
    void settle()
    {
        top_.eval();
    }
    void tick();
    void edge(bool high);
    void follow_the_clock();
    void configure();
    void look_at_ports();
    void left(const Frame &f, uint64_t cycle);
    void probe();
    void arrive();
    void read_ring(uint32_t at_least);
    void sleep_until_something();
    bool quiet() const
    {
        return still_ > kSettled;
    }
    uint64_t now() const; // the module's counter
    void set_now(uint64_t v);
    uint64_t ns() const
    {
        return now() * kTickNs;
    }
    uint32_t reg(const char *name) const
    {
        return names_.at(name);
    }

    const Options &o_;
    std::map<std::string, uint32_t> names_ = register_names();
    VerilatedContext context_;
    Vrtt top_{&context_};
#if VM_TRACE_FST
    VerilatedFstC fst_;
#endif
    sim::Stream tx_, rx_;
    sim::Axil bus_;
    sim::RegServer server_;
    sim::PciFunction pci_;
    sim::Pcapng pcap_;
    sim::Path path_;
    std::unique_ptr<sim::Port> host_, net_;
    std::FILE *truth_, *samples_;
    uint64_t cycles_ = 0, offset_ns_ = 0, probes_ = 0, left_ = 0;
    uint64_t next_probe_ = 0;               // 0: not started
    uint64_t host_lost_ = 0, net_lost_ = 0; // frames dropped by a port
    uint32_t ring_tail_ = 0;
    int still_ = 0;
};

Simulation::Simulation(const Options &o)
    : o_(o), tx_({&top_.tx_tvalid_i, &top_.tx_tready_i, &top_.tx_tlast_i, &top_.tx_tdata_i[0],
                  &top_.tx_tkeep_i},
                 o.stall, 1),
      rx_({&top_.rx_tvalid_i, &top_.rx_tready_i, &top_.rx_tlast_i, &top_.rx_tdata_i[0],
           &top_.rx_tkeep_i},
          o.stall, 2),
      bus_(
          {&top_.s_axil_awvalid_i, &top_.s_axil_awready_o, &top_.s_axil_wvalid_i,
           &top_.s_axil_wready_o, &top_.s_axil_wstrb_i, &top_.s_axil_bvalid_o,
           &top_.s_axil_bready_i, &top_.s_axil_bresp_o, &top_.s_axil_arvalid_i,
           &top_.s_axil_arready_o, &top_.s_axil_rvalid_o, &top_.s_axil_rready_i,
           &top_.s_axil_rresp_o, &top_.s_axil_awaddr_i, &top_.s_axil_araddr_i, &top_.s_axil_wdata_i,
           &top_.s_axil_rdata_o},
          sizeof(rtt_regs_t), [this] { settle(); }, [this] { tick(); }),
      server_(
          o.regs, [this](uint32_t a, uint32_t &v) { return bus_.read(a, v); },
          [this](uint32_t a, uint32_t v) { return bus_.write(a, v); }),
      pci_(
          o.pci, sizeof(rtt_regs_t), [this](uint32_t a, uint32_t &v) { return bus_.read(a, v); },
          [this](uint32_t a, uint32_t v) { return bus_.write(a, v); }),
      pcap_(o.pcap, {"leaving", "arriving"}), path_(o.path), truth_(create(o.truth)),
      samples_(create(o.samples))
{
    if (!o.host.empty())
        host_ = sim::open_port(o.host);
    if (!o.net.empty())
        net_ = sim::open_port(o.net);
#if VM_TRACE_FST
    if (!o.fst.empty()) {
        context_.traceEverOn(true);
        top_.trace(&fst_, 99);
        fst_.set_time_unit("1ns"); // as edge() dumps
        fst_.set_time_resolution("1ns");
        fst_.open(o.fst.c_str());
    }
#endif
    top_.rst_ni = 0;
    for (int i = 0; i < 4; i++)
        tick();
    top_.rst_ni = 1;
    set_now(o.start);
    offset_ns_ = monotonic_ns() - o.start * kTickNs;
    configure();
}

Simulation::~Simulation()
{
#if VM_TRACE_FST
    if (fst_.isOpen())
        fst_.close();
#endif
    top_.final();
    if (truth_)
        std::fclose(truth_);
    if (samples_)
        std::fclose(samples_);
}

uint64_t Simulation::now() const
{
    const Vrtt___024root *r = top_.rootp;

    return static_cast<uint64_t>(r->rtt__DOT__u_core__DOT__u_counter__DOT__hi_q) << 32 |
           r->rtt__DOT__u_core__DOT__u_counter__DOT__lo_q;
}

void Simulation::set_now(uint64_t v)
{
    Vrtt___024root *r = top_.rootp;

    r->rtt__DOT__u_core__DOT__u_counter__DOT__hi_q = static_cast<uint32_t>(v >> 32);
    r->rtt__DOT__u_core__DOT__u_counter__DOT__lo_q = static_cast<uint32_t>(v);
    r->rtt__DOT__u_core__DOT__u_counter__DOT__carry_q = static_cast<uint32_t>(v) == UINT32_MAX;
}

void Simulation::edge(bool high)
{
    top_.clk_i = high;
    top_.eval();
#if VM_TRACE_FST
    if (fst_.isOpen())
        fst_.dump(cycles_ * kTickNs + (high ? 0 : kTickNs / 2));
#endif
}

// Runs one cycle: drives the streams, then the clock edge.
void Simulation::tick()
{
    uint64_t cycle = now();

    probe();
    arrive();
    tx_.drive();
    rx_.drive();
    still_ = tx_.idle() && rx_.idle() ? still_ + 1 : 0;
    edge(true);
    tx_.passed(cycle, [this](const Frame &f, uint64_t first) { left(f, first); });
    rx_.passed(cycle, [this](const Frame &f, uint64_t first) {
        pcap_.packet(1, f, first * kTickNs, first);
        if (host_)
            host_lost_ += !host_->send(f, ns());
    });
    edge(false);
    cycles_++;
}

void Simulation::left(const Frame &f, uint64_t cycle)
{
    auto left_ns = static_cast<double>(cycle * kTickNs);

    pcap_.packet(0, f, cycle * kTickNs, cycle);
    if (net_) {
        net_lost_ += !net_->send(f, ns());
        return;
    }
    double at = path_.leave(f, left_ns, left_);
    if (truth_)
        std::fprintf(truth_, "%" PRIu64 " %.3f %.3f\n", left_, left_ns, at);
    left_++;
}

void Simulation::configure()
{
    for (const std::string &s : o_.set) {
        size_t eq = s.find('=');
        auto it = names_.find(s.substr(0, eq));

        if (eq == std::string::npos || it == names_.end())
            usage("--set " + s +
                  ": no such register; `toehold reg` and docs/GATEWARE.md list them");
        auto v = number("set", s.c_str() + eq + 1, 0, UINT32_MAX);
        if (bus_.write(it->second, static_cast<uint32_t>(v)) != 0)
            usage("--set " + s + ": refused");
    }
    uint32_t status;
    do {
        bus_.read(reg("STATUS"), status);
    } while (status & RTT_REGS__STATUS__FLUSHING_bm);
    next_probe_ = now() + 16;
}

// Sets an idle module's counter to the machine's time without running cycles.
void Simulation::follow_the_clock()
{
    if (!o_.wall || !quiet())
        return;
    uint64_t wall = (monotonic_ns() - offset_ns_) / kTickNs;
    if (wall > now())
        set_now(wall);
}

void Simulation::look_at_ports()
{
    Frame f;

    follow_the_clock();
    for (int n = 0; host_ && n < 32 && host_->receive(f, ns()); n++)
        tx_.push(f);
    for (int n = 0; net_ && n < 32 && net_->receive(f, ns()); n++)
        rx_.push(f);
}

// Sends a UDP packet whose payload begins with its number, as tag mode requires.
void Simulation::probe()
{
    if (probes_ == o_.probes || next_probe_ == 0 || now() < next_probe_)
        return;
    static const uint8_t head[] = {
        2,    0,    0, 0, 0, 2, 2,    0, 0,  0,  0, 1, 8,  0,                    // Ethernet
        0x45, 0,    0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
        0x13, 0x88, 0, 7, 0, 0, 0,    0,                                         // UDP 5000 to 7
    };
    Frame f(o_.size, 0);
    auto put16 = [&f](size_t at, uint64_t v) {
        f[at] = static_cast<uint8_t>(v >> 8);
        f[at + 1] = static_cast<uint8_t>(v);
    };
    uint32_t sum = 0;

    std::memcpy(f.data(), head, sizeof head);
    put16(16, o_.size - 14);
    put16(38, o_.size - 34);
    for (size_t i = 14; i < 34; i += 2)
        sum += static_cast<uint32_t>(f[i] << 8 | f[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(24, ~sum);
    put16(42, probes_ >> 16);
    put16(44, probes_);
    tx_.push(std::move(f));
    probes_++;
    next_probe_ += o_.gap;
}

void Simulation::arrive()
{
    sim::Path::Arrival a;

    while (path_.arrived(static_cast<double>(ns()), a))
        rx_.push(a.frame);
}

void Simulation::read_ring(uint32_t at_least)
{
    uint32_t head, word[kRingWords];

    if (!samples_)
        return;
    bus_.read(reg("RING_HEAD"), head);
    if (head - ring_tail_ < at_least)
        return;
    for (; ring_tail_ != head; ring_tail_++) {
        uint32_t entries = sizeof(((rtt_regs_t *)nullptr)->RING) / (kRingWords * 4);
        uint32_t at = reg("RING") + ring_tail_ % entries * kRingWords * 4;

        for (uint32_t i = 0; i < kRingWords; i++)
            bus_.read(at + 4 * i, word[i]);
        std::fprintf(samples_, "%u %u %" PRIu64 "\n", word[0], word[1],
                     static_cast<uint64_t>(word[3]) << 32 | word[2]);
    }
    bus_.write(reg("RING_TAIL"), ring_tail_);
}

void Simulation::sleep_until_something()
{
    std::vector<struct pollfd> fds;
    int limit = o_.wall ? 1 : 100;

    server_.add_to(fds);
    pci_.add_to(fds);
    for (sim::Port *p : {host_.get(), net_.get()}) {
        if (!p)
            continue;
        if (p->awake())
            return;
        if (p->fd() >= 0)
            fds.push_back({p->fd(), POLLIN, 0});
    }
    poll(fds.data(), fds.size(), limit);
}

int Simulation::run()
{
    bool probing = o_.probes != 0;

    while (!stop_asked) {
        server_.serve();
        pci_.serve();
        look_at_ports();
        for (int i = 0; i < kBatch; i++)
            tick();
        read_ring(128);
        bool done = path_.empty() && quiet() && (!probing || probes_ == o_.probes);
        if (done && probing && !o_.stay)
            break;
        if (done)
            sleep_until_something();
    }
    read_ring(1);
    if (probing)
        std::printf("%" PRIu64 " probes, %" PRIu64 " cycles\n", probes_, cycles_);
    if (host_lost_ + net_lost_ != 0)
        std::printf("lost, as a port took no more: %" PRIu64 " at --host, %" PRIu64 " at --net\n",
                    host_lost_, net_lost_);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    Options o = parse(argc, argv);

    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    std::signal(SIGPIPE, SIG_IGN);
    return Simulation(o).run();
}
