/* SPDX-License-Identifier: Apache-2.0 */
/*
 * card.h - the Verilated toe_box and its surroundings on a card: a link, host memory on an AXI bus,
 * TCB memory on a second one, an AXI4-Lite bus to the registers, MSI-X messages. The caller
 * advances it one cycle at a time.
 *
 * With TOE_HYBRID it is hyb_box, which has firmware and a console instead of a memory of TCBs: 1
 * the software-only configuration, 2 the prototype, 3 the complete one.
 */
#ifndef GATEWARE_SIM_CARD_H
#define GATEWARE_SIM_CARD_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <verilated.h>
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

#if TOE_HYBRID
#include "Vhyb_box.h"
#else
#include "Vtoe_box.h"
#endif
#include "axis.h"
#include "pcapng.h"
#include "port.h"

namespace sim
{

constexpr uint64_t kCycleNs = 4; /* 250 MHz */

#if TOE_HYBRID
using Box = Vhyb_box;
#else
using Box = Vtoe_box;
#endif

class Card
{
  public:
    struct Options {
        std::string pcap, fst;
        uint64_t fst_from = 0, fst_cycles = 0; /* a window; 0 cycles: until the end */
        bool fst_waits = false;                /* start at trigger() */
        unsigned stall = 0;                    /* percentage of cycles without ready */
        unsigned delay = 1;                    /* latency of host memory in cycles */
        bool virtual_time = false;             /* time advances only with cycles */
        std::string firmware;                  /* image of the hybrid TOE's processor */
    };
    /* The card's outputs. memory() maps the 64 bytes at a host address, or returns null when no
     * host has shared that address. */
    struct World {
        std::function<uint8_t *(uint64_t)> memory;
        std::function<void(unsigned)> interrupt;
        std::function<void(const Frame &)> sent;
        /* Each frame of both streams, with the cycle of its first beat. */
        std::function<void(const Frame &, bool out, uint64_t cycle)> passed = nullptr;
    };

    Card(const Options &o, World world);
    ~Card();
    Card(const Card &) = delete;
    Card &operator=(const Card &) = delete;

    void cycle();
    /* Access a register and return 0 or the bus error. An access takes cycles. */
    unsigned read(uint32_t at, uint32_t &value);
    unsigned write(uint32_t at, uint32_t value);
    uint32_t reg(uint32_t at); /* the register must exist */
    void set(uint32_t at, uint32_t value);

    void receive(Frame frame);
    size_t waiting() const
    {
        return in_.size();
    }
    /* Wall-clock mode: the system clock. Virtual time: the time skipped while idle. */
    void set_time(uint64_t ns)
    {
        top_.now_ns_i = ns;
    }
    uint64_t time() const
    {
        return top_.now_ns_i;
    }
    uint64_t cycles() const
    {
        return cycles_;
    }
    /* Returns the cycle of the first beat of the frame passed to World::sent(). */
    uint64_t sent_at() const
    {
        return out_first_;
    }
    uint64_t quiet() const /* consecutive cycles without activity */
    {
        return quiet_;
    }
    void rest(uint64_t quiet)
    {
        quiet_ = quiet;
    }
    void trigger();

    uint64_t strayed = 0;  /* accesses to unmapped host memory */
    uint64_t unlawful = 0; /* AXI protocol violations: illegal bursts, unstable offers */
    uint64_t bytes_in = 0, bytes_out = 0;

  private:
    struct Read {
        uint64_t due, address;
        bool id;
    };
    struct TcbRead {
        uint64_t due, address;
        uint8_t id;
    };
    /* A stream's payload of the previous cycle, offered but not accepted. */
    struct Offer {
        const char *name;
        bool held = false;
        uint8_t what[96] = {};
    };
    template <typename... Part>
    void stays(Offer &offer, bool valid, bool ready, const Part &...parts);
    void watch_offers();
    void drive_link();
    void drive_bus();
    void record(const Frame &f, bool out, uint64_t cycle);
    void take_link();
    void take_bus();
    void store(uint64_t address);
    void reset_toe();
    bool toe_busy() const; /* beyond what all TOEs have */
#if TOE_HYBRID
    void load_firmware();
    void take_console();
#else
    void drive_tcbs();
    void take_tcbs();
    uint8_t *tcb_memory(uint64_t address);
#endif
    bool stalls();
    void lawful(uint64_t address, unsigned len);
    void edge(bool high);

    Options o_;
    World world_;
    VerilatedContext context_;
    Box top_{&context_};
#if VM_TRACE_FST
    VerilatedFstC fst_;
    uint64_t fst_until_ = 0;
    void open_fst();
#endif
    AxilOf<uint32_t> bus_;
    Pcapng pcap_;
    std::deque<Frame> in_;
    size_t in_at_ = 0;
    Frame out_;
    uint64_t out_first_ = 0;
    std::deque<Read> reads_;
    std::deque<std::pair<uint64_t, unsigned>> writes_; /* next beat's address, beats left */
    std::deque<std::pair<uint64_t, bool>> answers_;    /* write responses: due, error */
    bool read_held_ = false;                           /* offered, not yet accepted */
    bool refused_ = false;                             /* a beat of this burst failed */
#if !TOE_HYBRID
    /* TCB memory: contents, then the same state as for host memory */
    std::vector<uint8_t> tcbs_;
    std::deque<TcbRead> tcb_reads_;
    std::deque<std::pair<uint64_t, unsigned>> tcb_writes_;
    std::deque<uint64_t> tcb_answers_;
    bool tcb_held_ = false;
    Offer tcb_ar_{"m_axi_tcb AR"}, tcb_aw_{"m_axi_tcb AW"}, tcb_w_{"m_axi_tcb W"};
#endif
    Offer axis_{"m_axis"}, ar_{"m_axi AR"}, aw_{"m_axi AW"}, w_{"m_axi W"}, msix_{"msix"};
    std::mt19937 random_{1};
    uint64_t cycles_ = 0, quiet_ = 0;
};

} // namespace sim

#endif
