/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - where a simulated interface gets its frames from and gives them to: netio's back ends
 * (tap:, wire:, af_xdp:, pcap:, and impair(...) and tee(...) around them; netio/README.md), or
 * packet:IFNAME, an AF_PACKET socket on any interface of Linux.
 */
#ifndef GATEWARE_SIM_PORT_H
#define GATEWARE_SIM_PORT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sim
{

using Frame = std::vector<uint8_t>;

class Port
{
  public:
    virtual ~Port() = default;
    /* The next frame that has come, without blocking; false: none. */
    virtual bool receive(Frame &frame, uint64_t now_ns) = 0;
    /* False: it takes no more, and the frame is lost, as in a queue of a card. */
    virtual bool send(const Frame &frame, uint64_t now_ns) = 0;
    /* Readable when frames come; -1: must be asked. */
    virtual int fd() const = 0;
    /* Before sleeping on fd(): true when frames wait already. */
    virtual bool awake() = 0;
};

/* Ends the program with a sentence when the specification cannot be opened. */
std::unique_ptr<Port> open_port(const std::string &spec);

} // namespace sim

#endif
