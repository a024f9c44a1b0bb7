// SPDX-License-Identifier: Apache-2.0
// hyb_sim.cpp - runs firmware on hyb_soc: loads an image as the host does, then clocks until the
// firmware writes its exit code.
//
//   hyb_sim IMAGE CYCLES
//
// What the firmware prints goes to stdout. Exit codes: the firmware's; 2 usage or a bad image; 3
// the firmware did not exit within CYCLES.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include <toe/number.h>

#include "Vhyb_soc.h"
#include "verilated.h"

namespace
{

constexpr std::size_t InstrBytes = 128 << 10;

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

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: hyb_sim IMAGE CYCLES\n");
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<std::uint8_t> image((std::istreambuf_iterator<char>(file)), {});
    if (image.empty() || image.size() > InstrBytes) {
        std::fprintf(stderr, "hyb_sim: %s has %zu bytes: an image has 1 to %zu\n", argv[1],
                     image.size(), InstrBytes);
        return 2;
    }
    char want[TOE_NUMBER_WANT];
    std::uint64_t most;
    if (!toe_number(argv[2], 1, UINT64_MAX, &most, want, sizeof want)) {
        std::fprintf(stderr, "hyb_sim: CYCLES %s is not %s\n", argv[2], want);
        return 2;
    }
    VerilatedContext context;
    Vhyb_soc soc(&context);

    soc.ext_ack_i = soc.ext_err_i = 1; /* nothing surrounds it: a bus error */
    soc.run_i = 0;
    soc.rst_ni = 0;
    for (int i = 0; i < 4; i++)
        tick(soc);
    soc.rst_ni = 1;
    load(soc, image);
    soc.run_i = 1;
    for (std::uint64_t cycle = 0; cycle < most; cycle++) {
        tick(soc);
        if (soc.console_valid_o)
            std::putchar(soc.console_o);
        if (soc.exit_valid_o) {
            std::fflush(stdout);
            return soc.exit_o;
        }
    }
    std::fflush(stdout);
    std::fprintf(stderr, "hyb_sim: no exit within %llu cycles\n",
                 static_cast<unsigned long long>(most));
    return 3;
}
