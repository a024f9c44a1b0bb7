/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - the source and sink of a simulated interface's frames: a netio back end (tap:, wire:,
 * af_xdp:, pcap:, and impair(...) and tee(...) around them; netio/README.md), or packet:IFNAME, an
 * AF_PACKET socket on any Linux interface.
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
    /* Takes the next received frame without blocking; false: none. */
    virtual bool receive(Frame &frame, uint64_t now_ns) = 0;
    /* Returns false when the queue is full: the frame is dropped, as on a card. */
    virtual bool send(const Frame &frame, uint64_t now_ns) = 0;
    /* Readable when frames arrive; -1: the caller must poll. */
    virtual int fd() const = 0;
    /* Call before sleeping on fd(). Returns true when frames are already waiting. */
    virtual bool awake() = 0;
};

/* Opens the port; on failure prints a message and exits. */
std::unique_ptr<Port> open_port(const std::string &spec);

} // namespace sim

#endif
