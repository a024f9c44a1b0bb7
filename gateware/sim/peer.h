/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - a simple TCP peer for benches: flows that it has opened, segments in order, nothing
 * lost. It keeps no timers; an acknowledgment goes out for every second segment, and on being
 * asked. What comes is judged: checksums, order, and the bytes of pattern().
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

/* Byte `at` of a stream, 0 the first; each flow has another in each direction. */
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
        uint64_t segments = 0;           /* with payload, that came */
    };

    /* put: a frame for the wire. mss: what it offers. */
    Peer(const Own &toe, unsigned flows, unsigned mss, std::function<void(Frame)> put);

    void announce();          /* asks for the TOE's address, which makes itself known */
    void open(unsigned flow); /* SYN */
    /* A segment of so many bytes; false: the TOE's window has no room. */
    bool send(unsigned flow, unsigned bytes);
    void acknowledge(unsigned flow);
    Frame bare(unsigned flow); /* an acknowledgment that tells nothing new */
    void take(const Frame &frame);

    const Flow &flow(unsigned i) const
    {
        return flows_[i];
    }
    /* With payload, that came to all flows. */
    uint64_t segments() const
    {
        return segments_;
    }
    uint64_t bytes() const
    {
        return bytes_;
    }
    /* The first thing that was wrong; empty: nothing. */
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
