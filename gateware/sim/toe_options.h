/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_options.h - the command line of toe_sim. Options shared with toed have the same names and
 * the same checks.
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
    int life = -1; /* a pipe; toe_sim exits when its other end is closed */
    Card::Options card;
    Hosts::Options hosts;
};

/* Parses the command line. Exits with 0 after --help, with 2 and a message on an error. */
Options parse(int argc, char **argv);

} // namespace sim

#endif
