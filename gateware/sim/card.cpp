/* SPDX-License-Identifier: Apache-2.0 */
#include "card.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#define _Alignas alignas
#define _Alignof alignof
#define _Static_assert static_assert
#include <toe/regs.h>

namespace sim
{

namespace
{
constexpr unsigned kSlverr = 2;
#if TOE_HYBRID
constexpr std::size_t kFirmware = 128u << 10; /* of instruction memory */
#else
constexpr uint64_t kTcbMemory = 1u << 26;
#endif
} // namespace

Card::Card(const Options &o, World world)
    : o_(o), world_(std::move(world)),
      bus_(
          {&top_.s_axil_awvalid_i, &top_.s_axil_awready_o, &top_.s_axil_wvalid_i,
           &top_.s_axil_wready_o, &top_.s_axil_wstrb_i, &top_.s_axil_bvalid_o,
           &top_.s_axil_bready_i, &top_.s_axil_bresp_o, &top_.s_axil_arvalid_i,
           &top_.s_axil_arready_o, &top_.s_axil_rvalid_o, &top_.s_axil_rready_i,
           &top_.s_axil_rresp_o, &top_.s_axil_awaddr_i, &top_.s_axil_araddr_i, &top_.s_axil_wdata_i,
           &top_.s_axil_rdata_o},
          sizeof(toe_regs_t), [this] { top_.eval(); }, [this] { cycle(); }),
      pcap_(o.pcap, {"received", "sent"})
{
#if VM_TRACE_FST
    if (!o.fst.empty()) {
        context_.traceEverOn(true);
        top_.trace(&fst_, 99);
    }
#endif
    top_.rst_ni = 0;
    top_.msix_ready_i = 1;
    for (unsigned i = 0; i < 8; i++)
        cycle();
    reset_toe();
    top_.rst_ni = 1;
    cycle();
}

Card::~Card()
{
#if VM_TRACE_FST
    if (fst_.isOpen())
        fst_.close();
#endif
    top_.final();
}

unsigned Card::read(uint32_t at, uint32_t &value)
{
    return bus_.read(at, value);
}

unsigned Card::write(uint32_t at, uint32_t value)
{
    return bus_.write(at, value);
}

uint32_t Card::reg(uint32_t at)
{
    uint32_t value = 0;

    if (read(at, value) != 0) {
        std::fprintf(stderr, "toe_sim: the card has no register at 0x%x\n", at);
        std::exit(1);
    }
    return value;
}

void Card::set(uint32_t at, uint32_t value)
{
    if (write(at, value) != 0) {
        std::fprintf(stderr, "toe_sim: the card has no register to be written at 0x%x\n", at);
        std::exit(1);
    }
}

/* ---- waveforms ---- */

#if VM_TRACE_FST
void Card::open_fst()
{
    fst_.set_time_unit("1ns");
    fst_.set_time_resolution("1ns");
    fst_.open(o_.fst.c_str());
    fst_until_ = o_.fst_cycles ? cycles_ + o_.fst_cycles : ~uint64_t{0};
}
#endif

void Card::trigger()
{
#if VM_TRACE_FST
    if (o_.fst_waits && !o_.fst.empty()) {
        o_.fst_waits = false;
        open_fst();
    }
#endif
}

void Card::edge(bool high)
{
    top_.clk_i = high;
    top_.eval();
#if VM_TRACE_FST
    if (high && !o_.fst.empty() && !o_.fst_waits && fst_until_ == 0 && cycles_ >= o_.fst_from)
        open_fst();
    if (fst_.isOpen()) {
        fst_.dump(cycles_ * kCycleNs + (high ? 0 : kCycleNs / 2));
        if (cycles_ >= fst_until_)
            fst_.close();
    }
#endif
}

/* ---- the clock ---- */

bool Card::stalls()
{
    return o_.stall != 0 && random_() % 100 < o_.stall;
}

void Card::cycle()
{
    drive_link();
    drive_bus();
#if !TOE_HYBRID
    drive_tcbs();
#endif
    top_.eval();
    bool busy = top_.s_axis_tvalid_i || top_.m_axis_tvalid_o || top_.m_axi_arvalid_o ||
                top_.m_axi_awvalid_o || top_.m_axi_wvalid_o || !reads_.empty() ||
                !answers_.empty() || top_.msix_valid_o || toe_busy();

    watch_offers();
    take_link();
    take_bus();
#if TOE_HYBRID
    take_console();
#else
    take_tcbs();
#endif
    if (top_.msix_valid_o && top_.msix_ready_i)
        world_.interrupt(top_.msix_vector_o);
    edge(true);
    edge(false);
    cycles_++;
    if (o_.virtual_time)
        top_.now_ns_i += kCycleNs;
    quiet_ = busy ? 0 : quiet_ + 1;
}

/* Checks that an offer stays unchanged until accepted (AMBA AXI4 A3.2.1, AXI4-Stream 2.2.1). */
template <typename... Part>
void Card::stays(Offer &offer, bool valid, bool ready, const Part &...parts)
{
    static_assert((sizeof(Part) + ...) <= sizeof offer.what);
    uint8_t now[sizeof offer.what];
    size_t n = 0;

    if (!offer.held && (!valid || ready))
        return;
    ((std::memcpy(now + n, &parts, sizeof parts), n += sizeof parts), ...);
    if (offer.held && (!valid || std::memcmp(now, offer.what, n) != 0) && !unlawful++)
        std::fprintf(stderr, "toe_sim: %s: what was offered did not stay, cycle %llu\n", offer.name,
                     static_cast<unsigned long long>(cycles_));
    offer.held = valid && !ready;
    std::memcpy(offer.what, now, n);
}

void Card::watch_offers()
{
    const Box &t = top_;

    stays(axis_, t.m_axis_tvalid_o, t.m_axis_tready_i, t.m_axis_tdata_o, t.m_axis_tkeep_o,
          t.m_axis_tlast_o);
    stays(ar_, t.m_axi_arvalid_o, t.m_axi_arready_i, t.m_axi_araddr_o, t.m_axi_arlen_o,
          t.m_axi_arid_o);
    stays(aw_, t.m_axi_awvalid_o, t.m_axi_awready_i, t.m_axi_awaddr_o, t.m_axi_awlen_o);
    stays(w_, t.m_axi_wvalid_o, t.m_axi_wready_i, t.m_axi_wdata_o, t.m_axi_wstrb_o,
          t.m_axi_wlast_o);
#if !TOE_HYBRID
    stays(tcb_ar_, t.m_axi_tcb_arvalid_o, t.m_axi_tcb_arready_i, t.m_axi_tcb_araddr_o,
          t.m_axi_tcb_arlen_o, t.m_axi_tcb_arid_o);
    stays(tcb_aw_, t.m_axi_tcb_awvalid_o, t.m_axi_tcb_awready_i, t.m_axi_tcb_awaddr_o,
          t.m_axi_tcb_awlen_o);
    stays(tcb_w_, t.m_axi_tcb_wvalid_o, t.m_axi_tcb_wready_i, t.m_axi_tcb_wdata_o,
          t.m_axi_tcb_wlast_o);
#endif
    stays(msix_, t.msix_valid_o, t.msix_ready_i, t.msix_vector_o);
}

/* ---- the link ---- */

void Card::receive(Frame frame)
{
    bytes_in += frame.size();
    in_.push_back(std::move(frame));
    quiet_ = 0;
}

void Card::drive_link()
{
    top_.m_axis_tready_i = !stalls();
    top_.s_axis_tvalid_i = !in_.empty();
    if (in_.empty())
        return;
    const Frame &f = in_.front();
    size_t left = f.size() - in_at_, n = left < kBeat ? left : kBeat;

    std::memset(&top_.s_axis_tdata_i[0], 0, kBeat);
    std::memcpy(&top_.s_axis_tdata_i[0], f.data() + in_at_, n);
    top_.s_axis_tkeep_i = n == kBeat ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
    top_.s_axis_tlast_i = n == left;
}

void Card::record(const Frame &f, bool out, uint64_t cycle)
{
    pcap_.packet(out, f, time(), cycle);
    if (world_.passed)
        world_.passed(f, out, cycle);
}

void Card::take_link()
{
    if (top_.s_axis_tvalid_i && top_.s_axis_tready_o) {
        if (in_at_ == 0)
            record(in_.front(), false, cycles_);
        in_at_ += kBeat;
        if (top_.s_axis_tlast_i) {
            in_.pop_front();
            in_at_ = 0;
        }
    }
    if (!top_.m_axis_tvalid_o || !top_.m_axis_tready_i)
        return;
    size_t n = top_.m_axis_tkeep_o == ~uint64_t{0}
                   ? kBeat
                   : static_cast<size_t>(__builtin_ctzll(~top_.m_axis_tkeep_o));
    const auto *data = reinterpret_cast<const uint8_t *>(&top_.m_axis_tdata_o[0]);

    if (out_.empty())
        out_first_ = cycles_;
    out_.insert(out_.end(), data, data + n);
    if (top_.m_axis_tlast_o) {
        if (out_.size() < 60)
            out_.resize(60);
        record(out_, true, out_first_);
        bytes_out += out_.size();
        world_.sent(out_);
        out_.clear();
    }
}

/* ---- host memory ---- */

void Card::drive_bus()
{
    top_.m_axi_arready_i = !stalls();
    top_.m_axi_awready_i = !stalls();
    top_.m_axi_wready_i = !stalls();
    /* An offered beat is held until accepted (AMBA AXI4, A3.2.1). */
    bool offer = !reads_.empty() && reads_.front().due <= cycles_ && (read_held_ || !stalls());

    top_.m_axi_rvalid_i = offer;
    if (offer) {
        const uint8_t *from = world_.memory(reads_.front().address);

        top_.m_axi_rid_i = reads_.front().id;
        top_.m_axi_rresp_i = from ? 0 : kSlverr;
        if (from)
            std::memcpy(&top_.m_axi_rdata_i[0], from, kBeat);
        else
            std::memset(&top_.m_axi_rdata_i[0], 0, kBeat);
    }
    top_.m_axi_bvalid_i = !answers_.empty() && answers_.front().first <= cycles_;
    top_.m_axi_bresp_i = top_.m_axi_bvalid_i && answers_.front().second ? kSlverr : 0;
}

void Card::lawful(uint64_t address, unsigned len)
{
    uint64_t last = address + kBeat * len;

    if (address % kBeat == 0 && address / 4096 == last / 4096)
        return;
    if (!unlawful++)
        std::fprintf(stderr, "toe_sim: a burst that AXI forbids: %u beats at %llx\n", len + 1,
                     static_cast<unsigned long long>(address));
}

void Card::take_bus()
{
    read_held_ = top_.m_axi_rvalid_i && !top_.m_axi_rready_o;
    if (top_.m_axi_rvalid_i && top_.m_axi_rready_o) {
        strayed += top_.m_axi_rresp_i != 0;
        reads_.pop_front();
    }
    if (top_.m_axi_arvalid_o && top_.m_axi_arready_i) {
        lawful(top_.m_axi_araddr_o, top_.m_axi_arlen_o);
        for (unsigned i = 0; i <= top_.m_axi_arlen_o; i++)
            reads_.push_back({cycles_ + o_.delay, top_.m_axi_araddr_o + kBeat * i,
                              static_cast<bool>(top_.m_axi_arid_o)});
    }
    if (top_.m_axi_bvalid_i && top_.m_axi_bready_o)
        answers_.pop_front();
    if (top_.m_axi_awvalid_o && top_.m_axi_awready_i) {
        lawful(top_.m_axi_awaddr_o, top_.m_axi_awlen_o);
        writes_.emplace_back(top_.m_axi_awaddr_o, top_.m_axi_awlen_o);
    }
    if (top_.m_axi_wvalid_o && top_.m_axi_wready_i) {
        if (writes_.empty() || top_.m_axi_wlast_o != (writes_.front().second == 0)) {
            std::fprintf(stderr, "toe_sim: a beat of a write that no address was given for\n");
            std::exit(1);
        }
        store(writes_.front().first);
        writes_.front().first += kBeat;
        if (writes_.front().second-- == 0) {
            writes_.pop_front();
            answers_.emplace_back(cycles_ + o_.delay, refused_);
            refused_ = false;
        }
    }
}

void Card::store(uint64_t address)
{
    uint8_t *to = world_.memory(address);
    const auto *data = reinterpret_cast<const uint64_t *>(&top_.m_axi_wdata_o[0]);
    const auto *bytes = reinterpret_cast<const uint8_t *>(data);

    if (!to) {
        strayed++;
        refused_ = true;
        return;
    }
    /* Downwards: the first word of a command, which holds the phase, must be stored last (ring.h).
     */
    for (int i = 7; i >= 0; i--) {
        unsigned strobe = top_.m_axi_wstrb_o >> (8 * i) & 255;

        if (strobe == 255) {
            __atomic_store_n(reinterpret_cast<uint64_t *>(to) + i, data[i], __ATOMIC_RELEASE);
        } else if (strobe == 15 || strobe == 240) {
            unsigned word = 2u * static_cast<unsigned>(i) + (strobe == 240);

            __atomic_store_n(reinterpret_cast<uint32_t *>(to) + word, top_.m_axi_wdata_o[word],
                             __ATOMIC_RELEASE);
        } else {
            for (unsigned j = 0; j < 8; j++)
                if (strobe >> j & 1)
                    to[8 * i + static_cast<int>(j)] = bytes[8 * i + static_cast<int>(j)];
        }
    }
}

#if TOE_HYBRID

/* ---- the processor ---- */

void Card::load_firmware()
{
    std::ifstream file(o_.firmware, std::ios::binary);
    std::vector<uint8_t> image((std::istreambuf_iterator<char>(file)), {});

    if (image.empty() || image.size() > kFirmware) {
        std::fprintf(stderr, "toe_sim: firmware %s has %zu bytes: an image has 1 to %zu\n",
                     o_.firmware.c_str(), image.size(), kFirmware);
        std::exit(1);
    }
    image.resize((image.size() + 3) / 4 * 4);
    top_.load_valid_i = 1;
    for (std::size_t at = 0; at < image.size(); at += 4) {
        uint32_t word;

        std::memcpy(&word, &image[at], sizeof word);
        top_.load_addr_i = static_cast<uint16_t>(at / 4);
        top_.load_data_i = word;
        cycle();
    }
    top_.load_valid_i = 0;
}

void Card::reset_toe()
{
    load_firmware();
}

bool Card::toe_busy() const
{
    return top_.active_o;
}

/* Firmware prints only when it fails, and ends only then. */
void Card::take_console()
{
    if (top_.console_valid_o)
        std::fputc(top_.console_o, stderr);
    if (!top_.exit_valid_o)
        return;
    std::fprintf(stderr, "toe_sim: the firmware ended with %u, cycle %llu\n", top_.exit_o,
                 static_cast<unsigned long long>(cycles_));
    std::exit(1);
}

#else

void Card::reset_toe()
{
}

bool Card::toe_busy() const
{
    return !tcb_reads_.empty() || !tcb_answers_.empty() || top_.m_axi_tcb_awvalid_o ||
           top_.m_axi_tcb_arvalid_o;
}

/* ---- TCB memory ---- */

/* Returns the 64 bytes at address; null: out of range or misaligned. */
uint8_t *Card::tcb_memory(uint64_t address)
{
    if (address % kBeat != 0 || address >= kTcbMemory) {
        strayed++;
        return nullptr;
    }
    if (tcbs_.size() < address + kBeat)
        tcbs_.resize(address + kBeat, 0xa5); /* not zeroes: the gateware must not rely on them */
    return tcbs_.data() + address;
}

void Card::drive_tcbs()
{
    top_.m_axi_tcb_arready_i = !stalls();
    top_.m_axi_tcb_awready_i = !stalls();
    /* Beats may precede their address (AMBA AXI4, A3.3); they wait for it. */
    top_.m_axi_tcb_wready_i = !tcb_writes_.empty() && !stalls();
    bool offer =
        !tcb_reads_.empty() && tcb_reads_.front().due <= cycles_ && (tcb_held_ || !stalls());

    top_.m_axi_tcb_rvalid_i = offer;
    if (offer) {
        const uint8_t *from = tcb_memory(tcb_reads_.front().address);

        top_.m_axi_tcb_rid_i = tcb_reads_.front().id;
        top_.m_axi_tcb_rresp_i = from ? 0 : kSlverr;
        if (from)
            std::memcpy(&top_.m_axi_tcb_rdata_i[0], from, kBeat);
    }
    top_.m_axi_tcb_bvalid_i = !tcb_answers_.empty() && tcb_answers_.front() <= cycles_;
    top_.m_axi_tcb_bresp_i = 0;
}

void Card::take_tcbs()
{
    tcb_held_ = top_.m_axi_tcb_rvalid_i && !top_.m_axi_tcb_rready_o;
    if (top_.m_axi_tcb_rvalid_i && top_.m_axi_tcb_rready_o)
        tcb_reads_.pop_front();
    if (top_.m_axi_tcb_arvalid_o && top_.m_axi_tcb_arready_i) {
        lawful(top_.m_axi_tcb_araddr_o, top_.m_axi_tcb_arlen_o);
        for (unsigned i = 0; i <= top_.m_axi_tcb_arlen_o; i++)
            tcb_reads_.push_back({cycles_ + o_.delay, top_.m_axi_tcb_araddr_o + kBeat * i,
                                  static_cast<uint8_t>(top_.m_axi_tcb_arid_o)});
    }
    if (top_.m_axi_tcb_bvalid_i && top_.m_axi_tcb_bready_o)
        tcb_answers_.pop_front();
    if (top_.m_axi_tcb_awvalid_o && top_.m_axi_tcb_awready_i) {
        lawful(top_.m_axi_tcb_awaddr_o, top_.m_axi_tcb_awlen_o);
        tcb_writes_.emplace_back(top_.m_axi_tcb_awaddr_o, top_.m_axi_tcb_awlen_o);
    }
    if (!top_.m_axi_tcb_wvalid_o || !top_.m_axi_tcb_wready_i)
        return;
    if (uint8_t *to = tcb_memory(tcb_writes_.front().first))
        std::memcpy(to, &top_.m_axi_tcb_wdata_o[0], kBeat);
    tcb_writes_.front().first += kBeat;
    if (tcb_writes_.front().second-- == 0) {
        tcb_writes_.pop_front();
        tcb_answers_.push_back(cycles_ + o_.delay);
    }
}

#endif

} // namespace sim
