/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmii.h - the other end of a GMII: frames as bytes of the link with preamble, FCS and gap (IEEE
 * 802.3), a byte a clock.
 */
#ifndef GATEWARE_SIM_GMII_H
#define GATEWARE_SIM_GMII_H

#include <cstddef>
#include <cstdint>

#include "port.h"

namespace sim
{

/* Returns the CRC-32 of IEEE 802.3 over the bytes. */
uint32_t frame_crc(const uint8_t *bytes, std::size_t n);

/* Bytes of one frame after the other. */
class GmiiSource
{
  public:
    /* Whether a frame, or the gap behind it, is under way. */
    bool busy() const
    {
        return at_ < bytes_.size();
    }
    /* Begins a frame, without FCS; shorter ones are padded. Not while busy(). */
    void begin(const Frame &frame);
    /* Returns whether rx_dv is 1, and the byte. */
    bool next(uint8_t &byte);

  private:
    Frame bytes_;
    std::size_t at_ = 0, gap_at_ = 0;
};

/* Frames of what is sent. */
class GmiiSink
{
  public:
    /* Takes a clock's byte. Returns true when it ends a frame that is sound: `frame` has it,
     * without FCS. */
    bool take(bool en, bool er, uint8_t byte, Frame &frame);
    uint64_t bad = 0; /* frames with an error, a wrong FCS or no preamble, or too short a gap */

  private:
    bool sound() const;
    Frame bytes_;
    bool error_ = false;
    unsigned gap_ = 12; /* clocks since the last frame */
};

} // namespace sim

#endif
