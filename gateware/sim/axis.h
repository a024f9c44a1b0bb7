/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axis.h - frames as beats of a 512-bit AXI-Stream, and register accesses on AXI4-Lite.
 */
#ifndef GATEWARE_SIM_AXIS_H
#define GATEWARE_SIM_AXIS_H

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <random>

#include "port.h"

namespace sim
{

constexpr size_t kBeat = 64;

/*
 * A stream between a source and a sink, both simulated here, that a module watches. The source
 * holds valid until ready. The sink withholds ready in a fraction `stall` of the cycles.
 */
class Stream
{
  public:
    struct Signals {
        uint8_t *tvalid, *tready, *tlast;
        uint32_t *tdata; /* 16 words */
        uint64_t *tkeep;
    };

    Stream(Signals s, double stall, uint64_t seed) : s_(s), stall_(stall), rng_(seed)
    {
    }

    void push(Frame frame)
    {
        queue_.push_back(std::move(frame));
    }
    bool idle() const
    {
        return queue_.empty();
    }

    /* Sets the signals of the next cycle. */
    void drive()
    {
        *s_.tvalid = !queue_.empty();
        *s_.tready = stall_ == 0 || uniform_(rng_) >= stall_;
        if (queue_.empty())
            return;
        const Frame &f = queue_.front();
        size_t left = f.size() - at_;
        size_t n = left < kBeat ? left : kBeat;

        std::memset(s_.tdata, 0, kBeat);
        std::memcpy(s_.tdata, f.data() + at_, n);
        *s_.tkeep = n == kBeat ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
        *s_.tlast = n == left;
    }

    /* Records the clock edge of cycle `now`. Calls done(frame, cycle of its first beat) after the
     * last beat of a frame. */
    template <typename Done> void passed(uint64_t now, Done done)
    {
        if (!*s_.tvalid || !*s_.tready)
            return;
        if (at_ == 0)
            first_ = now;
        if (!*s_.tlast) {
            at_ += kBeat;
            return;
        }
        Frame f = std::move(queue_.front());
        queue_.pop_front();
        at_ = 0;
        done(f, first_);
    }

  private:
    Signals s_;
    double stall_;
    std::mt19937_64 rng_;
    std::uniform_real_distribution<double> uniform_{0, 1};
    std::deque<Frame> queue_;
    size_t at_ = 0;
    uint64_t first_ = 0;
};

/* An AXI4-Lite master with one outstanding access. tick() advances the clock. Address is the type
 * that Verilator chose for the width of the address ports. */
template <typename Address> class AxilOf
{
  public:
    struct Signals {
        uint8_t *awvalid, *awready, *wvalid, *wready, *wstrb, *bvalid, *bready, *bresp;
        uint8_t *arvalid, *arready, *rvalid, *rready, *rresp;
        Address *awaddr, *araddr;
        uint32_t *wdata, *rdata;
    };

    /* settle() evaluates the combinational outputs before the edge; tick() runs one edge. */
    AxilOf(Signals s, uint32_t size, std::function<void()> settle, std::function<void()> tick)
        : s_(s), size_(size), settle_(std::move(settle)), tick_(std::move(tick))
    {
    }

    /* Returns 0 or the bus error. */
    unsigned read(uint32_t address, uint32_t &value)
    {
        if (address % 4 != 0 || address >= size_)
            return kDecodeError;
        *s_.araddr = static_cast<Address>(address);
        *s_.arvalid = 1;
        *s_.rready = 1;
        for (;;) {
            settle_();
            bool taken = *s_.arready, got = *s_.rvalid;
            unsigned error = *s_.rresp;

            value = *s_.rdata;
            tick_();
            if (taken)
                *s_.arvalid = 0;
            if (got) {
                *s_.rready = 0;
                return error;
            }
        }
    }

    unsigned write(uint32_t address, uint32_t value)
    {
        if (address % 4 != 0 || address >= size_)
            return kDecodeError;
        *s_.awaddr = static_cast<Address>(address);
        *s_.wdata = value;
        *s_.wstrb = 0xf;
        *s_.awvalid = *s_.wvalid = *s_.bready = 1;
        for (;;) {
            settle_();
            bool aw = *s_.awready, w = *s_.wready, b = *s_.bvalid;
            unsigned error = *s_.bresp;

            tick_();
            if (aw)
                *s_.awvalid = 0;
            if (w)
                *s_.wvalid = 0;
            if (b) {
                *s_.bready = 0;
                return error;
            }
        }
    }

  private:
    static constexpr unsigned kDecodeError = 3; /* DECERR */
    Signals s_;
    uint32_t size_;
    std::function<void()> settle_, tick_;
};

using Axil = AxilOf<uint16_t>;

} // namespace sim

#endif
