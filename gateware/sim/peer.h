/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - a simple TCP peer for benches. It opens the flows actively and expects segments in
 * order without loss. It has no timers; it acknowledges every second segment and on request. It
 * checks what it receives: checksums, order, and the bytes of pattern().
 */
#ifndef GATEWARE_SIM_PEER_H
#define GATEWARE_SIM_PEER_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver.h"

namespace sim
{

/* Returns byte `at` (from 0) of a stream. Each flow and direction has its own pattern. */
inline uint8_t pattern(unsigned flow, bool to_toe, uint64_t at)
{
    return static_cast<uint8_t>(at * 7 + (at >> 8) * 13 + flow * 31 + (to_toe ? 101 : 0));
}

class Peer
{
  public:
    static constexpr uint16_t kPort = 5001;       /* of the TOE */
    static constexpr uint16_t kFirstPort = 20000; /* of flow 0 here */

    struct Flow {
        bool open = false;
        uint32_t snd_nxt = 0, snd_una = 0, snd_edge = 0; /* edge: of the TOE's window */
        uint32_t rcv_nxt = 0;
        unsigned scale = 0, unacked = 0; /* segments */
        uint64_t sent = 0, got = 0;      /* bytes */
        uint64_t segments = 0;           /* received with payload */
    };

    /* put() sends a frame to the wire. mss: the MSS option of its SYN. */
    Peer(const Own &toe, unsigned flows, unsigned mss, std::function<void(Frame)> put);

    void announce();          /* sends an ARP request, from which the TOE learns its address */
    void open(unsigned flow); /* SYN */
    /* Sends a segment of `bytes` bytes; false: the TOE's window has no room. */
    bool send(unsigned flow, unsigned bytes);
    void acknowledge(unsigned flow);
    Frame bare(unsigned flow); /* an ACK without payload or news */
    void take(const Frame &frame);

    const Flow &flow(unsigned i) const
    {
        return flows_[i];
    }
    /* Segments with payload received on all flows. */
    uint64_t segments() const
    {
        return segments_;
    }
    uint64_t bytes() const
    {
        return bytes_;
    }
    /* Returns the first error; empty: none. */
    const std::string &wrong() const
    {
        return wrong_;
    }

  private:
    Frame segment(unsigned i, unsigned flags, unsigned payload);
    void take_arp(const Frame &frame);
    void take_payload(unsigned i, const uint8_t *payload, uint32_t seq, unsigned n);
    void complain(const std::string &what);

    Own toe_;
    unsigned mss_;
    std::function<void(Frame)> put_;
    std::vector<Flow> flows_;
    uint64_t segments_ = 0, bytes_ = 0;
    std::string wrong_;
};

} // namespace sim

#endif
