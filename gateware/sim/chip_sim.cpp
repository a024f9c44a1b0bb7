// SPDX-License-Identifier: Apache-2.0
// chip_sim.cpp - the chip of gateware/src/chip as a process: its GMII is a packet port. README.md
// describes its use.
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <memory>
#include <string>

#include <verilated.h>

#include "Vchip.h"
#include "gmii.h"
#include "port.h"

#include <toe/long_option.h>
#include <toe/number.h>

namespace
{

using sim::Frame;

// Half periods, in units of 4/3 ns: 75 MHz and, of the link, 125 MHz.
constexpr uint64_t CoreHalf = 5, LinkHalf = 3;
constexpr int Batch = 256; // clocks of the link between two looks at the port
constexpr int Reset = 64;  // units of time

const char Usage[] =
    "usage: chip_sim --netif SPEC [--cycles N]\n"
    "  --netif SPEC   the link: a specification of netio (tap:NAME, wire:PATH, pcap:...,\n"
    "                 impair(...):...) or packet:IFNAME\n"
    "  --cycles N     ends after so many clocks of the processors (default: never)\n"
    "  --help         prints this\n"
    "What the programs print goes to stderr. Ends at SIGTERM and SIGINT, and prints counts.\n"
    "Exit code: 0 all well, 1 a program of the chip ended, or it sent a wrong frame, 2 usage.\n";

volatile std::sig_atomic_t stopped;

void stop(int)
{
    stopped = 1;
}

struct Options {
    std::string netif;
    uint64_t cycles = UINT64_MAX;
};

[[noreturn]] void refuse(const std::string &why)
{
    std::fprintf(stderr, "chip_sim: %s; try --help\n", why.c_str());
    std::exit(2);
}

Options options(int argc, char **argv)
{
    static const struct option names[] = {{"netif", required_argument, nullptr, 'n'},
                                          {"cycles", required_argument, nullptr, 'c'},
                                          {"help", no_argument, nullptr, 'h'},
                                          {nullptr, 0, nullptr, 0}};
    Options o;
    char want[TOE_NUMBER_WANT];
    int c, index = 0;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", names, &index)) != -1) {
        if (c == ':' || c == '?')
            refuse(std::string(argv[optind - 1]) +
                   (c == ':' ? " needs a value" : ": no such option"));
        if (!toe_long_option_in_full(argv, optind, optarg, names[index].name))
            refuse(std::string("write --") + names[index].name + " in full");
        if (c == 'h') {
            std::fputs(Usage, stdout);
            std::exit(0);
        }
        if (c == 'n')
            o.netif = optarg;
        if (c == 'c' && !toe_number(optarg, 1, UINT64_MAX, &o.cycles, want, sizeof want))
            refuse(std::string("--cycles ") + optarg + " is not " + want);
    }
    if (optind < argc)
        refuse(std::string(argv[optind]) + ": no such argument");
    if (o.netif.empty())
        refuse("--netif is missing");
    return o;
}

class Chip
{
  public:
    explicit Chip(const Options &o) : port_(sim::open_port(o.netif)), most_(o.cycles)
    {
        chip_.rst_ni = 0;
        for (int i = 0; i < Reset; i++)
            step();
        chip_.rst_ni = 1;
    }
    int run();

  private:
    void step();
    void core_edge();
    void link_edge();
    void look();
    void print(int side, char c);

    Vchip chip_;
    std::unique_ptr<sim::Port> port_;
    sim::GmiiSource source_;
    sim::GmiiSink sink_;
    std::string line_[2];
    uint64_t most_, now_ = 0, cycles_ = 0, received_ = 0, sent_ = 0;
    int until_look_ = 0;
    bool ended_ = false, lost_ = false;
};

// What a program prints, line by line, behind its processor's name.
void Chip::print(int side, char c)
{
    if (c != '\n') {
        line_[side] += c;
        return;
    }
    std::fprintf(stderr, "%s: %s\n", side ? "host" : "toe", line_[side].c_str());
    line_[side].clear();
}

void Chip::core_edge()
{
    cycles_++;
    for (int side = 0; side < 2; side++) {
        if (chip_.console_valid_o >> side & 1)
            print(side, static_cast<char>(chip_.console_o >> 8 * side));
        if (chip_.exit_valid_o >> side & 1) {
            std::fprintf(stderr, "chip_sim: the program of the %s ended with %d\n",
                         side ? "host" : "TOE", chip_.exit_o >> 8 * side & 0xff);
            ended_ = true;
        }
    }
}

// Begins the next frame to the chip.
void Chip::look()
{
    Frame frame;

    until_look_ = Batch;
    if (source_.busy() || !port_->receive(frame, now_))
        return;
    source_.begin(frame);
    received_++;
}

void Chip::link_edge()
{
    Frame frame;
    uint8_t byte;

    if (sink_.take(chip_.gmii_tx_en_o, chip_.gmii_tx_er_o, chip_.gmii_txd_o, frame)) {
        sent_++;
        lost_ = lost_ || !port_->send(frame, now_);
    }
    if (--until_look_ <= 0)
        look();
    chip_.gmii_rx_dv_i = source_.next(byte);
    chip_.gmii_rxd_i = byte;
}

// One unit of time. What the link gives changes at its falling edge.
void Chip::step()
{
    bool core = now_ % CoreHalf == 0, link = now_ % LinkHalf == 0;

    now_++;
    if (!core && !link)
        return;
    if (core)
        chip_.clk_i = !chip_.clk_i;
    if (link) {
        chip_.gmii_rx_clk_i = !chip_.gmii_rx_clk_i;
        chip_.gmii_tx_clk_i = chip_.gmii_rx_clk_i;
    }
    chip_.eval();
    if (core && chip_.clk_i)
        core_edge();
    if (link && !chip_.gmii_rx_clk_i && chip_.rst_ni)
        link_edge();
}

int Chip::run()
{
    while (!stopped && !ended_ && cycles_ < most_)
        step();
    std::fprintf(stderr,
                 "cycles %" PRIu64 "\nframes to the chip %" PRIu64 "\nframes from the chip %" PRIu64
                 "\nwrong frames from the chip %" PRIu64 "\n",
                 cycles_, received_, sent_, sink_.bad);
    if (lost_)
        std::fprintf(stderr, "chip_sim: the port had no room for a frame\n");
    return ended_ || sink_.bad ? 1 : 0;
}

} // namespace

int main(int argc, char **argv)
{
    Options o = options(argc, argv);

    std::signal(SIGTERM, stop);
    std::signal(SIGINT, stop);
    return Chip(o).run();
}
