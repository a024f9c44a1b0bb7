/* SPDX-License-Identifier: Apache-2.0 */
/* toe_device.cpp - see toe_device.h. Host memory answers in the cycle after the request. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "Vtoe_top.h"
#include "toe_device.h"

namespace sim
{

namespace
{

constexpr unsigned kAreaShift = 40; /* DMA address: queue pair + 1, then the offset in its area */
/* The TOE is idle after this many cycles without a word on any edge, a pass of an FPC or a step of
 * toe_conn: longer than any path between two of these. */
constexpr unsigned kQuiet = 96;
/* Limit of the cycles that one settle() may take. */
constexpr unsigned kRound = 4000000;

thread_local ToeDevice *running; /* the target of DPI calls */

uint32_t number(const uint8_t *b)
{
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
}

/* Converts time stamps of 1.024 us to microseconds. */
uint32_t usec(uint64_t stamps)
{
    return static_cast<uint32_t>(stamps * 16777 >> 14);
}

unsigned log2_of(uint32_t power)
{
    return static_cast<unsigned>(__builtin_ctz(power));
}

/* Converts an address; the first octet becomes the most significant. */
template <typename Words> void wide(Words &to, const uint8_t address[16])
{
    for (unsigned i = 0; i < 4; i++)
        to[3 - i] = number(address + 4 * i);
}

} // namespace

ToeDevice::ToeDevice(const Config &c, uint64_t now, std::function<void(const Bytes &)> send)
    : top_(new Vtoe_top), send_(std::move(send)), now_(now)
{
    std::mt19937_64 random(c.seed);

    top_->rst_ni = 0;
    top_->now_i = now;
    top_->mac_i = 0;
    for (uint8_t octet : c.mac)
        top_->mac_i = top_->mac_i << 8 | octet;
    top_->ip4_i = number(c.ip);
    top_->ip4_gateway_i = number(c.gateway);
    top_->ip4_prefix_i = c.prefix;
    if (c.ip6.prefix) {
        uint8_t link[16];

        link_local(c.mac, link);
        wide(top_->ip6_i, c.ip6.own);
        wide(top_->ip6_gateway_i, c.ip6.gateway);
        wide(top_->ip6_link_i, link);
        top_->ip6_prefix_i = static_cast<uint8_t>(c.ip6.prefix);
    }
    top_->mtu_i = c.mtu;
    top_->cc_i = c.cc;
    std::memcpy(&top_->secret_i[0], c.secret, 16);
    for (unsigned i = 0; i < 12; i++)
        top_->hash_key_i[i] = static_cast<uint32_t>(random());
    top_->m_tready_i = 1;
    top_->cmd_ar_ready_i = top_->tx_ar_ready_i = top_->aw_ready_i = top_->w_ready_i = 1;
    cycles(8);
    tcbs_.resize(top_->flows_o);
    timers_.resize(top_->flows_o);
    top_->rst_ni = 1;
    while (!top_->ready_o)
        cycle();
    cycles(top_->flows_o); /* the gateware clears the timers' memory */
}

ToeDevice::~ToeDevice() = default;

/* ---- the clock ---- */

void ToeDevice::cycle()
{
    running = this;
    drive_packet();
    drive_reads();
    top_->eval();
    bool sends = top_->m_tvalid_o && top_->m_tready_i;
    bool busy = top_->s_tvalid_i || sends || top_->cmd_ar_valid_o || top_->tx_ar_valid_o ||
                top_->aw_valid_o || top_->w_valid_o || top_->irq_o;

    quiet_ = busy ? 0 : quiet_ + 1;
    if (sends)
        take_beat();
    take_reads();
    take_writes();
    for (unsigned q = 0; top_->irq_o && q < kQps; q++)
        if ((top_->irq_o >> q & 1) && qps_[q].used)
            qps_[q].interrupt();
    top_->clk_i = 1;
    top_->eval();
    top_->clk_i = 0;
    top_->eval();
    top_->qp_write_i = 0;
    top_->bell_write_i = 0;
    cycles_++;
}

void ToeDevice::cycles(unsigned n)
{
    while (n--)
        cycle();
}

uint32_t ToeDevice::tick() const
{
    return static_cast<uint32_t>(now_ >> 20);
}

/* Returns true while an expired deadline is not handled yet. */
bool ToeDevice::pending() const
{
    auto due = [this](const Timer &t) { return t.on && static_cast<int32_t>(tick() - t.at) >= 0; };

    for (const Timer &t : timers_)
        if (due(t))
            return true;
    return due(time_wait_) || due(neighbour_);
}

void ToeDevice::settle(uint64_t now)
{
    uint64_t end = cycles_ + kRound;

    now_ = now;
    top_->now_i = now;
    for (unsigned q = 0; q < kQps; q++)
        if (qps_[q].used)
            look_at_bells(q);
    if (in_.empty() && quiet_ >= kQuiet && !pending())
        return;
    quiet_ = 0;
    while (!in_.empty() || quiet_ < kQuiet || pending()) {
        cycle();
        if (cycles_ == end) {
            std::fprintf(stderr, "toe_device: no end of work in %u cycles at one time\n", kRound);
            std::abort();
        }
    }
}

uint64_t ToeDevice::deadline() const
{
    uint64_t least = kNever;
    auto see = [&](const Timer &t) {
        uint64_t left = static_cast<uint32_t>(t.at - tick());

        if (!t.on)
            return;
        if (left >> 31)
            left = 0;
        uint64_t at = ((now_ >> 20) + left) << 20;
        if (at < least)
            least = at;
    };

    for (const Timer &t : timers_)
        see(t);
    see(time_wait_);
    see(neighbour_);
    return least;
}

/* ---- packets ---- */

void ToeDevice::receive(const uint8_t *frame, size_t n)
{
    Bytes f(frame, frame + n);

    if (f.size() < 60)
        f.resize(60);
    in_.push_back(std::move(f));
}

void ToeDevice::drive_packet()
{
    top_->s_tvalid_i = !in_.empty();
    if (in_.empty())
        return;
    Bytes &f = in_.front();
    size_t left = f.size() - in_at_, n = left < 64 ? left : 64;

    std::memset(&top_->s_tdata_i[0], 0, 64);
    std::memcpy(&top_->s_tdata_i[0], f.data() + in_at_, n);
    top_->s_tkeep_i = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
    top_->s_tlast_i = n == left;
    in_at_ += n;
    if (n == left) {
        in_.pop_front();
        in_at_ = 0;
    }
}

void ToeDevice::take_beat()
{
    size_t n = top_->m_tkeep_o == ~uint64_t{0}
                   ? 64
                   : static_cast<size_t>(__builtin_ctzll(~top_->m_tkeep_o));
    const uint8_t *data = reinterpret_cast<const uint8_t *>(&top_->m_tdata_o[0]);

    out_.insert(out_.end(), data, data + n);
    if (top_->m_tlast_o) {
        send_(out_);
        out_.clear();
    }
}

/* ---- host memory ---- */

/* Maps n bytes at a host address; null: not in any area. */
uint8_t *ToeDevice::memory(uint64_t address, uint64_t n)
{
    uint64_t q = (address >> kAreaShift) - 1;
    uint64_t offset = address & ((uint64_t{1} << kAreaShift) - 1);

    if (q < kQps && qps_[q].area && offset + n <= qps_[q].layout.total)
        return qps_[q].area + offset;
    if (!strayed_++)
        std::fprintf(stderr,
                     "toe_device: the TOE reached for host memory that is not there: %llx\n",
                     static_cast<unsigned long long>(address));
    return nullptr;
}

void ToeDevice::drive_reads()
{
    auto read = [this](uint64_t address, VlWide<16> &data) {
        const uint8_t *from = memory(address, 64);

        if (from)
            std::memcpy(&data[0], from, 64);
        else
            std::memset(&data[0], 0, 64);
    };

    top_->cmd_r_valid_i = cmd_asked_;
    if (cmd_asked_)
        read(cmd_address_, top_->cmd_r_data_i);
    cmd_asked_ = false;
    top_->tx_r_valid_i = !tx_reads_.empty();
    if (!tx_reads_.empty())
        read(tx_reads_.front(), top_->tx_r_data_i);
}

void ToeDevice::take_reads()
{
    if (top_->cmd_ar_valid_o) {
        cmd_asked_ = true;
        cmd_address_ = top_->cmd_ar_addr_o;
    }
    if (top_->tx_r_valid_i && top_->tx_r_ready_o)
        tx_reads_.pop_front();
    if (top_->tx_ar_valid_o)
        for (unsigned i = 0; i <= top_->tx_ar_len_o; i++)
            tx_reads_.push_back(top_->tx_ar_addr_o + 64 * i);
}

void ToeDevice::take_writes()
{
    if (top_->w_valid_o && writes_.empty()) {
        strayed_++; /* a beat without an address */
    } else if (top_->w_valid_o) {
        uint8_t *to = memory(writes_.front(), 64);
        const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&top_->w_data_o[0]);

        writes_.pop_front();
        for (unsigned i = 0; to && i < 64; i++)
            if (top_->w_strb_o >> i & 1)
                to[i] = bytes[i];
    }
    if (top_->aw_valid_o)
        for (unsigned i = 0; i <= top_->aw_len_o; i++)
            writes_.push_back(top_->aw_addr_o + 64 * i);
}

/* ---- queue pairs ---- */

void ToeDevice::look_at_bells(unsigned q)
{
    QueuePair &p = qps_[q];
    const toedev_doorbells *b = reinterpret_cast<toedev_doorbells *>(p.area + p.layout.doorbells);

    if (std::memcmp(b, &p.seen, sizeof p.seen) == 0)
        return;
    p.seen = *b;
    quiet_ = 0;
    top_->bell_write_i = 1;
    top_->bell_qp_i = static_cast<uint8_t>(q);
    top_->bell_sw_head_i = b->sw_head;
    top_->bell_hw_tail_i = b->hw_tail;
    top_->bell_arm_i = b->irq_arm;
    top_->bell_seq_i = b->irq_seq;
    top_->bell_count_i = b->irq_count;
    top_->bell_usec_i = b->irq_usec;
    cycle();
}

/* Returns the first of n free flows, a multiple of n; -1: there are none. */
int ToeDevice::find_flows(uint32_t n) const
{
    for (uint32_t at = 0; at + n <= flows(); at += n) {
        bool free = true;

        for (const QueuePair &p : qps_)
            if (p.used && at < p.first + p.config.slots && p.first < at + n)
                free = false;
        if (free)
            return static_cast<int>(at);
    }
    return -1;
}

int ToeDevice::attach(const toedev_qp_config &config, uint8_t *area,
                      std::function<void()> interrupt)
{
    int first = find_flows(config.slots);
    unsigned q = 0;

    while (q < kQps && qps_[q].used)
        q++;
    if (q == kQps || first < 0)
        return -1;
    QueuePair &p = qps_[q];
    p.used = true;
    p.config = config;
    toedev_layout(&config, &p.layout);
    p.area = area;
    p.first = static_cast<uint32_t>(first);
    p.seen = {};
    p.interrupt = std::move(interrupt);
    configure(q, true, false);
    while (!(top_->attached_o >> q & 1))
        cycle();
    return static_cast<int>(q);
}

void ToeDevice::detach(int at)
{
    unsigned q = static_cast<unsigned>(at);

    configure(q, true, true);
    while (!(top_->detached_o >> q & 1))
        cycle();
    settle(now_); /* send RSTs */
    configure(q, false, false);
    settle(now_);
    qps_[q] = QueuePair{};
}

void ToeDevice::configure(unsigned q, bool enable, bool detach)
{
    const QueuePair &p = qps_[q];

    top_->qp_write_i = 1;
    top_->qp_i = static_cast<uint8_t>(q);
    top_->qp_enable_i = enable;
    top_->qp_detach_i = detach;
    top_->qp_area_i = uint64_t{q + 1} << kAreaShift;
    top_->qp_sw_log_i = static_cast<uint8_t>(log2_of(p.config.sw_entries));
    top_->qp_hw_log_i = static_cast<uint8_t>(log2_of(p.config.hw_entries));
    top_->qp_slots_log_i = static_cast<uint8_t>(log2_of(p.config.slots));
    top_->qp_tx_log_i = static_cast<uint8_t>(log2_of(p.config.tx_size));
    top_->qp_rx_log_i = static_cast<uint8_t>(log2_of(p.config.rx_size));
    top_->qp_addresses_i = static_cast<uint16_t>(p.config.addresses);
    top_->qp_first_i = static_cast<uint16_t>(p.first);
    top_->qp_status_at_i = static_cast<uint32_t>(p.layout.status);
    top_->qp_sw_at_i = static_cast<uint32_t>(p.layout.sw_ring);
    top_->qp_hw_at_i = static_cast<uint32_t>(p.layout.hw_ring);
    top_->qp_records_at_i = static_cast<uint32_t>(p.layout.records);
    top_->qp_addresses_at_i = static_cast<uint32_t>(p.layout.addresses);
    top_->qp_buffers_at_i = static_cast<uint32_t>(p.layout.buffers);
    quiet_ = 0;
    cycle();
    if (detach)
        return;
    top_->bell_write_i = 1;
    top_->bell_qp_i = static_cast<uint8_t>(q);
    top_->bell_sw_head_i = top_->bell_hw_tail_i = top_->bell_arm_i = top_->bell_seq_i = 0;
    top_->bell_count_i = top_->bell_usec_i = 0;
    cycle();
}

/* Updates the changing fields, as record() of toe_dmaw does. */
void ToeDevice::fresh_records(int q)
{
    QueuePair &p = qps_[q];

    for (uint32_t i = 0; i < p.config.slots; i++) {
        const Tcb &t = tcbs_[p.first + i];
        toedev_flow_record *r =
            reinterpret_cast<toedev_flow_record *>(p.area + p.layout.records) + i;

        if (t.state == 0 || !(t.flags & Tcb::kKnown))
            continue;
        r->state = static_cast<uint8_t>(t.state);
        r->srtt_us = usec(t.srtt >> 3);
        r->rttvar_us = usec(t.rttvar >> 2);
        r->rto_us = usec(uint64_t{t.rto} << 10);
        r->min_rtt_us = usec(t.min_rtt);
        r->cwnd = t.cwnd;
        r->ssthresh = t.ssthresh;
        r->snd_wnd = t.snd_wnd;
        r->rcv_wnd = t.rcv_adv - t.rcv_nxt;
        r->retransmits = t.retransmits;
        r->in_flight = t.snd_nxt - t.snd_una;
        r->sacked = 0;
        for (uint32_t k = 0; k < t.sacked; k++)
            r->sacked += t.board[k][1] - t.board[k][0];
        r->ca_state = t.recovery == 2 ? 4 : t.recovery == 1 ? 3 : t.sacked || t.dupacks ? 1 : 0;
        r->timeouts = static_cast<uint8_t>(t.timeouts);
        r->backoff = static_cast<uint8_t>(t.backoff);
        r->bytes_sent = t.snd_nxt - t.iss - 1;
        r->bytes_acked = t.snd_una - t.iss - 1;
        r->bytes_received = t.rcv_nxt - t.irs - 1;
    }
}

uint32_t ToeDevice::counter(unsigned i) const
{
    return top_->counters_o[i];
}

/* ---- toe_look.sv ---- */

void ToeDevice::look_tcb(uint32_t flow, const uint32_t *words)
{
    std::memcpy(&tcbs_[flow], words, sizeof(Tcb));
    quiet_ = 0;
}

void ToeDevice::look_deadline(uint32_t flow, bool on, uint32_t at)
{
    timers_[flow] = {on, at};
}

void ToeDevice::look_conn(bool busy, bool some, uint32_t at, bool waits, uint32_t again)
{
    if (busy) {
        quiet_ = 0;
        return;
    }
    time_wait_ = {some, at};
    neighbour_ = {waits, again};
}

} // namespace sim

extern "C" {
void toe_look_tcb(int flow, const uint32_t *words)
{
    sim::running->look_tcb(static_cast<uint32_t>(flow), words);
}
void toe_look_deadline(int flow, unsigned char on, int at)
{
    sim::running->look_deadline(static_cast<uint32_t>(flow), on, static_cast<uint32_t>(at));
}
void toe_look_conn(unsigned char busy, unsigned char some, int at, unsigned char waits, int again)
{
    sim::running->look_conn(busy, some, static_cast<uint32_t>(at), waits,
                            static_cast<uint32_t>(again));
}
void toe_look_busy()
{
    sim::running->look_busy();
}
}
