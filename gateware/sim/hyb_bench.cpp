// SPDX-License-Identifier: Apache-2.0
// hyb_bench.cpp - runs firmware/send.c on hyb_soc with a host memory and a link, and prints JSON:
// the last send between MARKER 1 and 0. Its edges, and the cycles of each instruction
// (sim/hyb_walk.sv), with which bench/hybrid.py divides it into steps.
//
//   hyb_bench IMAGE CYCLES DELAY
//
// Host memory answers DELAY cycles after a read is requested, then a beat a cycle. Each frame that
// leaves is checked: its TCP checksum. Exit codes: the firmware's; 2 usage or a bad image; 3 the
// firmware did not exit within CYCLES; 4 a frame is wrong.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <toe/number.h>

#include "Vhyb_soc.h"
#include "Vhyb_soc__Dpi.h"
#include "verilated.h"

namespace
{

constexpr std::size_t InstrBytes = 128 << 10;
constexpr std::uint64_t Host = 0x10000000, Buffer = 16384; // of firmware/send.c

std::uint64_t g_cycle;
int g_step; // as MARKER has it; 0: outside of a send
bool g_inside;
bool g_leaves; // ... its frame, until its last beat
std::uint64_t g_began;
std::vector<std::uint64_t> g_sends; // cycles of each
struct Edge {
    std::uint64_t cycle;
    std::string name;
};
std::vector<Edge> g_edges; // of the last send, until the next one begins
std::map<int, std::map<std::uint32_t, std::uint64_t>> g_cycles; // of a step, by instruction

} // namespace

void hyb_walk_marker(char step)
{
    g_step = step;
    if (step == 1) { // others send without it
        g_edges.clear();
        g_cycles.clear();
        g_began = g_cycle;
        g_inside = g_leaves = true;
    } else if (!step && g_inside) {
        g_sends.push_back(g_cycle - g_began);
        g_inside = false;
    }
}

void hyb_walk_edge(const char *name)
{
    if (g_inside || g_leaves)
        g_edges.push_back({g_cycle - g_began, name});
}

void hyb_walk_cycle(int pc)
{
    if (g_inside)
        g_cycles[g_step][static_cast<std::uint32_t>(pc)]++;
}

namespace
{

void tick(Vhyb_soc &soc)
{
    soc.clk_i = 0;
    soc.eval();
    soc.clk_i = 1;
    soc.eval();
}

void load(Vhyb_soc &soc, const std::vector<std::uint8_t> &image)
{
    soc.load_valid_i = 1;
    for (std::size_t at = 0; at < image.size(); at += 4) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < 4 && at + i < image.size(); i++)
            word |= static_cast<std::uint32_t>(image[at + i]) << (8 * i);
        soc.load_addr_i = static_cast<std::uint32_t>(at / 4);
        soc.load_data_i = word;
        tick(soc);
    }
    soc.load_valid_i = 0;
}

// Reads are answered in order, each beat DELAY cycles after its request at the earliest.
class HostMemory
{
  public:
    explicit HostMemory(std::uint64_t delay) : delay_(delay)
    {
    }

    void offer(Vhyb_soc &soc) const
    {
        soc.ar_ready_i = 1;
        soc.r_valid_i = !beats_.empty() && beats_.front().at <= g_cycle;
        soc.r_bad_i = 0;
        if (soc.r_valid_i) {
            std::uint64_t data = 0;
            for (unsigned i = 0; i < 8; i++)
                data |= std::uint64_t{byte(beats_.front().address + i)} << (8 * i);
            soc.r_data_i = data;
            soc.r_bad_i = beats_.front().address - Host >= Buffer;
        }
    }

    // Before the edge of the clock.
    void take(const Vhyb_soc &soc)
    {
        if (soc.r_valid_i && soc.r_ready_o)
            beats_.pop_front();
        if (soc.ar_valid_o)
            for (unsigned i = 0; i <= soc.ar_len_o; i++)
                beats_.push_back({g_cycle + delay_, soc.ar_addr_o + 8 * i});
    }

  private:
    struct Beat {
        std::uint64_t at, address;
    };
    static std::uint8_t byte(std::uint64_t address)
    {
        std::uint64_t off = address % Buffer;
        return static_cast<std::uint8_t>(off * 7 + (off >> 8) * 31);
    }
    std::uint64_t delay_;
    std::deque<Beat> beats_;
};

// Returns whether the TCP checksum of an IPv4 frame, if it is one, is right.
bool sound(const std::vector<std::uint8_t> &f)
{
    if (f.size() < 54 || f[12] != 0x08 || f[13] != 0x00 || f[23] != 6)
        return true;
    std::size_t l4 = 34, end = 14 + (f[16] << 8 | f[17]);
    if (end > f.size())
        return false;
    std::uint32_t sum = 6 + static_cast<std::uint32_t>(end - l4);
    for (std::size_t i = 26; i < end; i++)
        sum += i % 2 == 0 ? f[i] << 8 : f[i];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

void print(std::uint64_t delay, unsigned frames)
{
    std::printf("{\"delay\":%llu,\"frames\":%u,\"sends\":[", (unsigned long long)delay, frames);
    for (std::size_t i = 0; i < g_sends.size(); i++)
        std::printf("%s%llu", i ? "," : "", (unsigned long long)g_sends[i]);
    std::printf("],\"edges\":[");
    for (std::size_t i = 0; i < g_edges.size(); i++)
        std::printf("%s[%llu,\"%s\"]", i ? "," : "", (unsigned long long)g_edges[i].cycle,
                    g_edges[i].name.c_str());
    std::printf("],\"instructions\":[");
    bool first = true;
    for (const auto &[step, by_pc] : g_cycles)
        for (const auto &[pc, cycles] : by_pc) {
            std::printf("%s[%d,%u,%llu]", first ? "" : ",", step, pc, (unsigned long long)cycles);
            first = false;
        }
    std::printf("]}\n");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: hyb_bench IMAGE CYCLES DELAY\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<std::uint8_t> image((std::istreambuf_iterator<char>(file)), {});
    if (image.empty() || image.size() > InstrBytes) {
        std::fprintf(stderr, "hyb_bench: %s has %zu bytes: an image has 1 to %zu\n", argv[1],
                     image.size(), InstrBytes);
        return 2;
    }
    char want[TOE_NUMBER_WANT];
    std::uint64_t most, delay;
    if (!toe_number(argv[2], 1, UINT64_MAX, &most, want, sizeof want)) {
        std::fprintf(stderr, "hyb_bench: CYCLES %s is not %s\n", argv[2], want);
        return 2;
    }
    if (!toe_number(argv[3], 1, 100000, &delay, want, sizeof want)) {
        std::fprintf(stderr, "hyb_bench: DELAY %s is not %s\n", argv[3], want);
        return 2;
    }
    VerilatedContext context;
    Vhyb_soc soc(&context);
    HostMemory host(delay);
    std::vector<std::uint8_t> frame;
    unsigned frames = 0;
    bool left = false; // a frame's last beat, with the coming edge of the clock
    std::string said;

    soc.m_tready_i = 1;
    soc.run_i = 0;
    soc.rst_ni = 0;
    for (int i = 0; i < 4; i++)
        tick(soc);
    soc.rst_ni = 1;
    load(soc, image);
    soc.run_i = 1;
    for (g_cycle = 1; g_cycle < most; g_cycle++) {
        host.offer(soc);
        soc.clk_i = 0;
        soc.eval();
        host.take(soc);
        if (soc.m_tvalid_o) {
            for (unsigned i = 0; i < 8; i++)
                if (soc.m_tkeep_o >> i & 1)
                    frame.push_back(static_cast<std::uint8_t>(soc.m_tdata_o >> (8 * i)));
            if (soc.m_tlast_o) {
                if (!sound(frame)) {
                    std::fprintf(stderr, "hyb_bench: frame %u, %zu bytes: bad checksum\n", frames,
                                 frame.size());
                    return 4;
                }
                frames++;
                frame.clear();
                left = true;
            }
        }
        soc.clk_i = 1;
        soc.eval();
        if (left)
            g_leaves = left = false;
        if (soc.console_valid_o)
            said += static_cast<char>(soc.console_o);
        if (soc.exit_valid_o) {
            if (soc.exit_o)
                std::fprintf(stderr, "hyb_bench: %s", said.c_str());
            else
                print(delay, frames);
            return soc.exit_o;
        }
    }
    std::fprintf(stderr, "hyb_bench: no exit within %llu cycles; %s\n",
                 static_cast<unsigned long long>(most), said.c_str());
    return 3;
}
