// SPDX-License-Identifier: Apache-2.0
#include "gmii.h"

#include <algorithm>

namespace sim
{
namespace
{

constexpr std::size_t Preamble = 8, Least = 60, Fcs = 4, Gap = 12;
constexpr uint8_t Start = 0xd5;

} // namespace

uint32_t frame_crc(const uint8_t *bytes, std::size_t n)
{
    uint32_t crc = 0xffffffff;

    for (std::size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

void GmiiSource::begin(const Frame &frame)
{
    bytes_.assign(Preamble - 1, 0x55);
    bytes_.push_back(Start);
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
    if (frame.size() < Least)
        bytes_.resize(Preamble + Least, 0);
    uint32_t crc = frame_crc(bytes_.data() + Preamble, bytes_.size() - Preamble);
    for (std::size_t i = 0; i < Fcs; i++)
        bytes_.push_back(static_cast<uint8_t>(crc >> 8 * i));
    gap_at_ = bytes_.size();
    bytes_.resize(gap_at_ + Gap, 0);
    at_ = 0;
}

bool GmiiSource::next(uint8_t &byte)
{
    bool valid = at_ < gap_at_;

    byte = valid ? bytes_[at_] : 0;
    if (busy())
        at_++;
    return valid;
}

bool GmiiSink::sound() const
{
    auto start = std::find(bytes_.begin(), bytes_.end(), Start);
    std::size_t n = static_cast<std::size_t>(bytes_.end() - start) - (start != bytes_.end());
    const uint8_t *frame = bytes_.data() + Preamble;
    uint32_t crc = 0;

    if (error_ || start - bytes_.begin() != Preamble - 1 || n < Least + Fcs)
        return false;
    for (std::size_t i = 0; i < Fcs; i++)
        crc |= static_cast<uint32_t>(frame[n - Fcs + i]) << 8 * i;
    return crc == frame_crc(frame, n - Fcs);
}

bool GmiiSink::take(bool en, bool er, uint8_t byte, Frame &frame)
{
    if (en) {
        if (bytes_.empty())
            error_ = gap_ < Gap;
        error_ = error_ || er;
        bytes_.push_back(byte);
        gap_ = 0;
        return false;
    }
    gap_++;
    if (bytes_.empty())
        return false;
    bool good = sound();
    if (good)
        frame.assign(bytes_.begin() + Preamble, bytes_.end() - Fcs);
    else
        bad++;
    bytes_.clear();
    return good;
}

} // namespace sim
