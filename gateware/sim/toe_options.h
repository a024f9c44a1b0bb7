/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_options.h - what toe_sim is told on its command line. Options that toed has too have its
 * names, and are refused as it refuses them.
 */
#ifndef GATEWARE_SIM_TOE_OPTIONS_H
#define GATEWARE_SIM_TOE_OPTIONS_H

#include <cstdint>
#include <string>

#include "card.h"
#include "hosts.h"

namespace sim
{

struct Options {
    std::string netif, regs;
    int trigger = -1; /* the counter that starts the waveform */
    uint64_t seed = 0, cycles = ~uint64_t{0};
    int life = -1; /* a pipe: the end of all who hold its other end is that of toe_sim */
    Card::Options card;
    Hosts::Options hosts;
};

/* Ends the process: with 0 after --help, with 2 and a message when something is wrong. */
Options parse(int argc, char **argv);

} // namespace sim

#endif
