// SPDX-License-Identifier: Apache-2.0
// hyb_loop.cpp - runs firmware/receive.c on the hybrid TOE whose link comes back (sim/hyb_loop.sv),
// and prints JSON: what MARKER has named, how many cycles each took, and of the last one of each
// name the cycles of every instruction; of the last burst the beats on the link, the cycles of the
// first and of the last one.
//
//   hyb_loop IMAGE CYCLES
//
// Exit codes: the firmware's; 2 usage or a bad image; 3 the firmware did not exit within CYCLES; 4
// a byte in host memory is wrong.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <toe/number.h>

#include "Vhyb_loop.h"
#include "Vhyb_loop__Dpi.h"
#include "verilated.h"

namespace
{

constexpr std::size_t InstrBytes = 128 << 10;
constexpr int Burst = 4, Leaving = 5; // of MARKER

std::uint64_t g_cycle, g_began;
std::uint64_t g_burst, g_beats, g_first, g_last; // of the last burst: its begin, its beats
int g_what;                                      // as MARKER has it; 0: nothing that is measured
std::map<int, std::vector<std::uint64_t>> g_taken;
std::map<int, std::map<std::uint32_t, std::uint64_t>> g_cycles; // by instruction

} // namespace

void hyb_walk_marker(char what)
{
    if (g_what)
        g_taken[g_what].push_back(g_cycle - g_began);
    g_what = what;
    g_began = g_cycle;
    if (what)
        g_cycles[what].clear();
    if (what == Burst) {
        g_burst = g_cycle;
        g_beats = 0;
    }
}

void hyb_walk_edge(const char *name)
{
    if ((g_what != Burst && g_what != Leaving) || std::string(name).find("way out -> link") != 0)
        return;
    if (!g_beats++)
        g_first = g_cycle - g_burst;
    g_last = g_cycle - g_burst;
}

void hyb_walk_cycle(int pc)
{
    if (g_what)
        g_cycles[g_what][static_cast<std::uint32_t>(pc)]++;
}

namespace
{

void tick(Vhyb_loop &top)
{
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
}

void load(Vhyb_loop &top, const std::vector<std::uint8_t> &image)
{
    top.load_valid_i = 1;
    for (std::size_t at = 0; at < image.size(); at += 4) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < 4 && at + i < image.size(); i++)
            word |= static_cast<std::uint32_t>(image[at + i]) << (8 * i);
        top.load_addr_i = static_cast<std::uint32_t>(at / 4);
        top.load_data_i = word;
        tick(top);
    }
    top.load_valid_i = 0;
}

void print(std::uint32_t placed)
{
    std::printf("{\"placed\":%u,\"beats\":[%llu,%llu,%llu],\"taken\":{", placed,
                (unsigned long long)g_beats, (unsigned long long)g_first,
                (unsigned long long)g_last);
    for (auto kind = g_taken.begin(); kind != g_taken.end(); ++kind) {
        std::printf("%s\"%d\":[", kind == g_taken.begin() ? "" : ",", kind->first);
        for (std::size_t i = 0; i < kind->second.size(); i++)
            std::printf("%s%llu", i ? "," : "", (unsigned long long)kind->second[i]);
        std::printf("]");
    }
    std::printf("},\"instructions\":[");
    bool first = true;
    for (const auto &[what, by_pc] : g_cycles)
        for (const auto &[pc, cycles] : by_pc) {
            std::printf("%s[%d,%u,%llu]", first ? "" : ",", what, pc, (unsigned long long)cycles);
            first = false;
        }
    std::printf("]}\n");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: hyb_loop IMAGE CYCLES\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<std::uint8_t> image((std::istreambuf_iterator<char>(file)), {});
    if (image.empty() || image.size() > InstrBytes) {
        std::fprintf(stderr, "hyb_loop: %s has %zu bytes: an image has 1 to %zu\n", argv[1],
                     image.size(), InstrBytes);
        return 2;
    }
    char want[TOE_NUMBER_WANT];
    std::uint64_t most;
    if (!toe_number(argv[2], 1, UINT64_MAX, &most, want, sizeof want)) {
        std::fprintf(stderr, "hyb_loop: CYCLES %s is not %s\n", argv[2], want);
        return 2;
    }
    VerilatedContext context;
    Vhyb_loop top(&context);
    std::string said;

    top.rst_ni = 0;
    load(top, image);
    for (int i = 0; i < 4; i++)
        tick(top);
    top.rst_ni = 1;
    for (g_cycle = 1; g_cycle < most; g_cycle++) {
        tick(top);
        if (top.console_valid_o)
            said += static_cast<char>(top.console_o);
        if (!top.exit_valid_o)
            continue;
        if (top.exit_o)
            std::fprintf(stderr, "hyb_loop: %s", said.c_str());
        else if (top.wrong_o) {
            std::fprintf(stderr, "hyb_loop: %u of %u bytes in host memory are wrong\n", top.wrong_o,
                         top.placed_o);
            return 4;
        } else
            print(top.placed_o);
        return top.exit_o;
    }
    std::fprintf(stderr, "hyb_loop: no exit within %llu cycles; %s\n",
                 static_cast<unsigned long long>(most), said.c_str());
    return 3;
}
