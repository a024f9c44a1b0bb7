/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - parses integers from the command line. */
#ifndef GATEWARE_SIM_NUMBER_H
#define GATEWARE_SIM_NUMBER_H

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace sim
{

/* Returns false unless text is an integer from min to max. */
inline bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t &v)
{
    char *end;

    errno = 0;
    v = std::strtoull(text, &end, 0);
    return std::isdigit(static_cast<unsigned char>(text[0])) && !*end && !errno && v >= min &&
           v <= max;
}

} // namespace sim

#endif
