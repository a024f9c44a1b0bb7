/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - frames of the simulated card for `toehold capture`, by the contract of toe/capture.h:
 * a memfd with one ring, which lasts as long as the tool's connection. Each record has the cycle of
 * the frame's first beat on the AXI stream.
 */
#ifndef GATEWARE_SIM_CAPTURE_H
#define GATEWARE_SIM_CAPTURE_H

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "port.h"

extern "C" {
#include <toe/capture.h>
}

namespace sim
{

class Capture
{
  public:
    Capture() = default;
    ~Capture();
    Capture(const Capture &) = delete;
    Capture &operator=(const Capture &) = delete;

    /* What the tool prints of the TOE. */
    struct About {
        std::string toe, netif;
        uint8_t mac[6];
    };

    /*
     * Begins a capture for the tool at this connection, which then belongs to the capture. request
     * is "SNAPLEN MIB"; now_ns is the card's time. Returns NULL and the memory's descriptor, to be
     * passed on and closed; or why there is no capture.
     */
    const char *begin(int fd, const About &about, const std::string &request, uint64_t now_ns,
                      int *memory);
    /* Ends it, if there is one. */
    void end();
    /* The connection; -1: no capture. Readable when the tool has ended. */
    int fd() const
    {
        return fd_;
    }
    /* Copies a frame, or counts it as lost: the card never waits. Needs a capture. reason: of a
     * drop, a number of toe_verdict.sv; 0: not dropped. */
    void frame(const Frame &f, bool out, uint64_t now_ns, uint64_t cycle, unsigned reason = 0);

  private:
    const char *make(const About &about, uint32_t mib, uint64_t now_ns, int *memory);

    int fd_ = -1;
    pid_t pid_ = 0; /* of the tool */
    toecap_header layout_ = {};
    toecap_header *header_ = nullptr; /* shared with the tool, as the following */
    toecap_ring *ring_ = nullptr;
    uint8_t *data_ = nullptr; /* mapped twice in a row */
    uint64_t head_ = 0, lost_ = 0;
};

} // namespace sim

#endif
