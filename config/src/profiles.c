/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiles.c - the named sets of settings (toe/config.h). bench/profiles.py measures each against
 * the defaults.
 */
#include <toe/config.h>

const struct config_profile config_profiles[] = {
    {"latency", "short round trips: engines poll longer, no event is held back"},
    {"throughput", "bulk transfers: large buffers, fewer wake-ups"},
    {"low-cpu", "shared cores: sleep at once, hold events back for a moment"},
    {"nginx", "web servers: many short connections, responses in one buffer"},
    {"redis", "small requests and answers on few connections"},
};
const size_t config_profile_count = sizeof config_profiles / sizeof config_profiles[0];

const struct config_preset config_presets[] = {
    {"latency", "toed", "spin-us", "1000"},      {"latency", "inline", "spin-us", "1000"},
    {"latency", "toed", "moderation", "off"},

    {"throughput", "toed", "spin-us", "100"},    {"throughput", "run", "tx-size", "1048576"},
    {"throughput", "run", "rx-size", "1048576"}, {"throughput", "run", "slots", "256"},

    {"low-cpu", "toed", "spin-us", "0"},         {"low-cpu", "inline", "spin-us", "0"},
    {"low-cpu", "run", "busy-poll-us", "0"},     {"low-cpu", "run", "irq-count", "32"},
    {"low-cpu", "run", "irq-usec", "50"},

    {"nginx", "toed", "max-flows", "65536"},     {"nginx", "run", "slots", "16384"},
    {"nginx", "run", "rx-size", "16384"},        {"nginx", "run", "tx-size", "131072"},

    {"redis", "run", "irq-count", "1"},
};
const size_t config_preset_count = sizeof config_presets / sizeof config_presets[0];
