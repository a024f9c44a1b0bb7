/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_device.h - the gateware TOE (toe_top, Verilated) as an object in virtual time. Frames enter
 * and leave by calls, host memory is the areas of the device contract, time is an argument.
 * settle() runs cycles until the TOE is idle at that time; deadline() returns the next time at
 * which it has work. Not thread-safe.
 */
#ifndef TOE_DEVICE_SIM_H
#define TOE_DEVICE_SIM_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "ip6.h"

class Vtoe_top;

namespace sim
{

using Bytes = std::vector<uint8_t>;

/* A TCB as last written: the words of toe_look.sv, in the same order. */
struct Tcb {
    uint32_t state, iss, irs, snd_una, snd_nxt, snd_end, snd_wnd, rcv_nxt, rcv_adv;
    uint32_t cwnd, ssthresh, srtt, rttvar, min_rtt, mss, own_mss;
    uint32_t flags, scales, retransmits, backoff, timeouts, gaps, sacked;
    uint32_t ooo[4][2], board[4][2];
    uint32_t recovery, rto, dupacks;

    static constexpr uint32_t kTimestamps = 1, kSack = 2, kScaling = 4, kFinAhead = 8, kActive = 16,
                              kFin = 32, kFinIn = 64, kKnown = 128;
};
static_assert(sizeof(Tcb) == 168, "the words of toe_look.sv");

class ToeDevice
{
  public:
    static constexpr unsigned kQps = 8;
    static constexpr uint64_t kNever = UINT64_MAX;

    struct Config {
        uint8_t mac[6], ip[4], gateway[4];
        Ip6 ip6;
        uint8_t prefix;
        uint16_t mtu;
        uint8_t cc; /* as in OPTION CC */
        uint8_t secret[16];
        uint64_t seed; /* for the flow table's hash */
    };

    /* `send` is called with each transmitted frame. */
    ToeDevice(const Config &config, uint64_t now, std::function<void(const Bytes &)> send);
    ~ToeDevice();

    /* Attaches a queue pair over an area of this configuration and returns its number; -1: no free
     * queue pair, or too few free flows. */
    int attach(const toedev_qp_config &config, uint8_t *area, std::function<void()> interrupt);
    /* Resets its flows. The area is not accessed after the return. */
    void detach(int q);

    void receive(const uint8_t *frame, size_t n);
    void settle(uint64_t now);
    uint64_t deadline() const;

    uint32_t flows() const
    {
        return static_cast<uint32_t>(tcbs_.size());
    }
    uint32_t first(int q) const
    {
        return qps_[q].first;
    }
    const Tcb &tcb(uint32_t flow) const
    {
        return tcbs_[flow];
    }
    /* Returns counter i of toe_top. */
    uint32_t counter(unsigned i) const;
    /* Accesses to unmapped host memory. */
    uint64_t strayed() const
    {
        return strayed_;
    }
    uint64_t cycles() const
    {
        return cycles_;
    }
    /* Updates the flow records in the area. */
    void fresh_records(int q);

    /* Called by toe_look.sv through DPI. */
    void look_tcb(uint32_t flow, const uint32_t *words);
    void look_deadline(uint32_t flow, bool on, uint32_t at);
    void look_conn(bool busy, bool some, uint32_t at, bool waits, uint32_t again);
    void look_busy()
    {
        quiet_ = 0;
    }

  private:
    struct QueuePair {
        bool used = false;
        toedev_qp_config config = {};
        struct toedev_layout layout = {};
        uint8_t *area = nullptr;
        uint32_t first = 0;
        toedev_doorbells seen = {};
        std::function<void()> interrupt;
    };
    struct Timer {
        bool on;
        uint32_t at;
    };

    void cycle();
    void cycles(unsigned n);
    bool pending() const;
    void drive_packet();
    void take_beat();
    void drive_reads();
    void take_reads();
    void take_writes();
    void look_at_bells(unsigned q);
    void configure(unsigned q, bool enable, bool detach);
    int find_flows(uint32_t n) const;
    uint8_t *memory(uint64_t address, uint64_t n);
    uint32_t tick() const;

    std::unique_ptr<Vtoe_top> top_;
    std::function<void(const Bytes &)> send_;
    QueuePair qps_[kQps];
    std::deque<Bytes> in_;
    size_t in_at_ = 0;
    Bytes out_;
    std::deque<uint64_t> tx_reads_, writes_; /* addresses of outstanding accesses */
    bool cmd_asked_ = false;
    uint64_t cmd_address_ = 0, now_ = 0, cycles_ = 0, strayed_ = 0;
    unsigned quiet_ = 0;
    std::vector<Tcb> tcbs_;
    std::vector<Timer> timers_;
    Timer time_wait_ = {}, neighbour_ = {};
};

} // namespace sim

#endif
