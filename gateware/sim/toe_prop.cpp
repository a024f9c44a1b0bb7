/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_prop.cpp - implements the functions of core/ that core/tests/prop calls on the gateware TOE,
 * so that the property tests of core/ drive it through the device contract. A flow is a slot.
 * Commands go through the SW ring; notifications on the HW ring become events. Linked instead of
 * libtoec.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "toe_device.h"

#define _Noreturn [[noreturn]]
extern "C" {
#include <toe/core.h>
#include <toe/counters.h>
#include <toe/port.h>
#include <toe/ring.h>

#include "prop.h"
}

using sim::Bytes;
using sim::Tcb;
using sim::ToeDevice;

namespace
{

constexpr uint32_t kSlots = 64;
constexpr unsigned kEth = 14, kIp = 20;

uint16_t be16(const uint8_t *b)
{
    return static_cast<uint16_t>(b[0] << 8 | b[1]);
}

uint32_t be32(const uint8_t *b)
{
    return uint32_t{be16(b)} << 16 | be16(b + 2);
}

bool is_tcp(const Bytes &f)
{
    return f.size() >= kEth + kIp + 20 && be16(&f[12]) == 0x0800 && f[23] == 6;
}

} // namespace

/* A flow, or a pending attempt to connect. */
struct toec_tcb {
    void *owner = nullptr;
    int slot = -1;
    uint32_t cookie = 0, iss = 0;
    uint16_t lport = 0, rport = 0;
    bool half = false, refused = false, gone = false;
    uint64_t announced = 0, told = 0, acked = 0;
    std::vector<toe_cmd> waiting; /* until the slot is known */
};

struct Gate {
    toec_config cfg;
    uint64_t now = 0;
    std::unique_ptr<ToeDevice> device;
    toedev_qp_config qp_config = {};
    struct toedev_layout layout = {};
    Bytes memory;
    uint8_t *area = nullptr;
    int qp = -1;
    toe_ring_tx sw = {};
    toe_ring_rx hw = {};
    std::deque<Bytes> out;
    toec_u64 counters[TOEC_C_MAX] = {};
    std::vector<std::unique_ptr<toec_tcb>> flows; /* never shrinks: handles stay valid */
    toec_tcb *at[kSlots] = {};
    struct Listener {
        uint32_t id;
        void *owner;
    };
    std::vector<Listener> listeners;
    uint32_t next_id = 1, open = 0;
    const Bytes *in = nullptr; /* the frame in processing */
    bool dirty = false;

    Gate(const toec_config &c, uint64_t time);

    void put(const toe_cmd &c);
    void command(toec_tcb *f, const toe_cmd &c);
    void round();
    void settle();
    void drain();
    void look_for_opens();
    void take(const toe_cmd &c);
    void on_open(uint32_t slot, bool told);
    void established(toec_tcb *f, uint32_t slot);
    void gone(toec_tcb *f, uint32_t why);
    void data(toec_tcb *f, uint32_t n);
    void rest_acked(toec_tcb *f);
    bool transmit(const Bytes &f);
    void flush();
    toec_tcb *of_frame(const Bytes &f);
    void fill(toec_tcb *f, uint32_t n);
    [[noreturn]] void fail(const char *what);
    const Tcb &tcb(const toec_tcb *f) const
    {
        return device->tcb(device->first(qp) + static_cast<uint32_t>(f->slot));
    }
    uint64_t buffer(uint32_t slot, bool rx) const
    {
        return rx ? toedev_rx_offset(&qp_config, &layout, slot)
                  : toedev_tx_offset(&qp_config, &layout, slot);
    }
};

struct toec_stack {
    Gate *gate;
};

namespace
{

/* prop never frees a stack. Beside the two in use, two more may exist while it looks for a clock.
 * They are never destroyed, because Verilator's own state is already gone at exit(). */
auto &gates = *new std::deque<std::unique_ptr<Gate>>;

/* Called with each transmitted frame (toe_twin.cpp). */
void (*tap)(Gate &g, const Bytes &frame);

} // namespace

void Gate::fail(const char *what)
{
    prop_fail(static_cast<struct host *>(cfg.user)->world, "gateware", "%s", what);
}

Gate::Gate(const toec_config &c, uint64_t time) : cfg(c), now(time)
{
    const struct host *h = static_cast<const struct host *>(c.user);
    ToeDevice::Config d = {};

    std::memcpy(d.mac, c.mac, 6);
    std::memcpy(d.ip, c.ip, 4);
    std::memcpy(d.gateway, c.gateway, 4);
    d.prefix = c.prefix_len;
    d.mtu = static_cast<uint16_t>(c.mtu);
    d.cc = c.cc == TOEC_CC_NEWRENO;
    std::memcpy(d.secret, c.secret, 16);
    d.seed = c.secret[0];
    device.reset(new ToeDevice(d, time, [this](const Bytes &f) { out.push_back(f); }));
    qp_config.sw_entries = 256;
    qp_config.hw_entries = 1024;
    qp_config.slots = kSlots;
    qp_config.tx_size = h->tx_buf;
    qp_config.rx_size = h->rx_buf;
    if (toedev_layout(&qp_config, &layout) != 0)
        fail("no such queue pair");
    memory.resize(layout.total + 4096);
    area = memory.data() + (4096 - reinterpret_cast<uintptr_t>(memory.data()) % 4096);
    qp = device->attach(qp_config, area, [] {});
    if (qp < 0)
        fail("no queue pair");
    toedev_status *status = reinterpret_cast<toedev_status *>(area + layout.status);
    toe_ring_tx_init(&sw, area + layout.sw_ring, qp_config.sw_entries, &status->sw_tail);
    toe_ring_rx_init(&hw, area + layout.hw_ring, qp_config.hw_entries);
}

/* ---- rings ---- */

void Gate::put(const toe_cmd &c)
{
    auto *bells = reinterpret_cast<toedev_doorbells *>(area + layout.doorbells);

    if (toe_ring_room(&sw) == 0)
        device->settle(now);
    if (toe_ring_room(&sw) == TOE_RING_BAD)
        fail("the SW tail is impossible");
    toe_ring_put(&sw, &c);
    bells->sw_head = sw.head;
    dirty = true;
}

/* Sends a command, or queues it until the flow's slot is known. */
void Gate::command(toec_tcb *f, const toe_cmd &c)
{
    if (f->slot < 0) {
        f->waiting.push_back(c);
        return;
    }
    if (toe_cmd_type(&c) == TOE_CMD_SEND)
        fill(f, toe_cmd_arg0(&c));
    put(toe_cmd_make(toe_cmd_type(&c), toe_cmd_flags(&c), toe_cmd_aux(&c),
                     static_cast<uint32_t>(f->slot), toe_cmd_arg0(&c), toe_cmd_arg1(&c)));
}

/* Writes the payload of a SEND, as prop expects it. */
void Gate::fill(toec_tcb *f, uint32_t n)
{
    uint8_t *to = area + buffer(static_cast<uint32_t>(f->slot), false);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = static_cast<uint32_t>(f->announced + i);

        to[at & (qp_config.tx_size - 1)] = pattern(f->iss, at);
    }
    f->announced += n;
}

void Gate::round()
{
    dirty = false;
    device->settle(now);
    look_for_opens();
    drain();
    flush();
    if (device->strayed())
        fail("it reached for host memory that is not there");
}

/* Repeats, because notifications may lead to commands. */
void Gate::settle()
{
    do
        round();
    while (dirty);
}

void Gate::drain()
{
    auto *bells = reinterpret_cast<toedev_doorbells *>(area + layout.doorbells);
    toe_cmd c;

    while (toe_ring_get(&hw, &c)) {
        bells->hw_tail = hw.tail;
        take(c);
    }
}

/* ---- notifications ---- */

void Gate::look_for_opens()
{
    for (uint32_t i = 0; i < kSlots; i++) {
        const Tcb &t = device->tcb(device->first(qp) + i);
        toec_tcb *f = at[i];

        if (f && f->half && (t.state == TOEC_CLOSED || t.iss != f->iss) &&
            !(t.flags & Tcb::kKnown)) {
            at[i] = nullptr;
            gone(f, TOEC_R_REFUSED);
        }
        if (!at[i] && t.state == TOEC_SYN_RECEIVED && !(t.flags & Tcb::kActive))
            on_open(i, false);
    }
}

/* Begins a flow of a listener. Its ports are those of the frame being received. */
void Gate::on_open(uint32_t slot, bool told)
{
    auto f = std::make_unique<toec_tcb>();
    toec_buffers buffers = {};
    toec_open info = {};

    if (!in || listeners.empty())
        fail(told ? "an event names a flow that was not opened" : "a flow that was not opened");
    const uint8_t *tcp = &(*in)[kEth + kIp];
    f->rport = info.remote_port = be16(tcp);
    f->lport = info.local_port = be16(tcp + 2);
    f->slot = static_cast<int>(slot);
    f->half = true;
    f->iss = device->tcb(device->first(qp) + slot).iss;
    if (toec_port_open(cfg.user, listeners[0].owner, &info, &buffers) != 0)
        f->refused = true;
    else
        open++;
    f->owner = buffers.owner;
    at[slot] = f.get();
    flows.push_back(std::move(f));
}

void Gate::established(toec_tcb *f, uint32_t slot)
{
    f->half = false;
    f->slot = static_cast<int>(slot);
    at[slot] = f;
    f->iss = tcb(f).iss;
    if (f->refused) {
        put(toe_cmd_make(TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, slot, 0, 0));
        return;
    }
    toec_port_event(cfg.user, f->owner, f, TOEC_EV_ESTABLISHED, 0);
    for (const toe_cmd &c : f->waiting)
        command(f, c);
    f->waiting.clear();
}

void Gate::gone(toec_tcb *f, uint32_t why)
{
    if (f->gone)
        fail("a flow is gone twice");
    f->gone = true;
    if (f->refused)
        return;
    open--;
    toec_port_event(cfg.user, f->owner, f, TOEC_EV_GONE, why);
}

/* Delivers n bytes from the receive buffer, in order. */
void Gate::data(toec_tcb *f, uint32_t n)
{
    const uint8_t *from = area + buffer(static_cast<uint32_t>(f->slot), true);
    Bytes bytes(n);
    toec_packet p = {};

    for (uint32_t i = 0; i < n; i++)
        bytes[i] = from[(f->told + i) & (qp_config.rx_size - 1)];
    p.data = bytes.data();
    p.head_len = p.len = n;
    toec_port_place(cfg.user, f->owner, static_cast<uint32_t>(f->told), &p, 0, n);
    f->told += n;
    toec_port_event(cfg.user, f->owner, f, TOEC_EV_DATA, n);
}

/* Reports the rest of the acknowledged bytes: after a full close the contract has no notification
 * of them, but core/ reports them. */
void Gate::rest_acked(toec_tcb *f)
{
    const Tcb &t = tcb(f);
    uint32_t all = t.snd_una - t.iss - 1;

    if (static_cast<int32_t>(t.snd_una - t.snd_end) > 0)
        all = t.snd_end - t.iss - 1;
    if (all != static_cast<uint32_t>(f->acked) && !f->refused)
        toec_port_event(cfg.user, f->owner, f, TOEC_EV_ACKED,
                        all - static_cast<uint32_t>(f->acked));
}

void Gate::take(const toe_cmd &c)
{
    uint32_t slot = toe_cmd_flow(&c), n = toe_cmd_arg0(&c);
    toec_tcb *f = nullptr;
    char text[80];

    switch (toe_cmd_type(&c)) {
    case TOE_CMD_CONNECT_ESTABLISHED:
    case TOE_CMD_CONNECT_FAILED:
        for (auto &x : flows)
            if (x->cookie == n && !x->gone)
                f = x.get();
        if (!f)
            fail("an answer to no CONNECT");
        if (toe_cmd_type(&c) == TOE_CMD_CONNECT_FAILED)
            gone(f, toe_cmd_aux(&c));
        else
            established(f, slot);
        return;
    case TOE_CMD_ERROR:
        /* A command that crosses the end of its flow is rejected: BADF or NOTCONN. */
        if (toe_cmd_aux(&c) == TOE_R_BADF || toe_cmd_aux(&c) == TOE_R_NOTCONN ||
            toe_cmd_aux(&c) == TOE_R_NOPROTOOPT)
            return;
        std::snprintf(text, sizeof text, "ERROR %u of %s", toe_cmd_aux(&c),
                      toe_cmd_name(toe_cmd_arg1(&c)));
        fail(text);
    default:
        break;
    }
    if (slot >= kSlots)
        fail("a slot that is none");
    if (toe_cmd_type(&c) == TOE_CMD_LISTEN_ESTABLISHED) {
        if (!at[slot])
            on_open(slot, true);
        put(toe_cmd_make(TOE_CMD_ACCEPT, 0, 0, slot, 0, 0));
        established(at[slot], slot);
        return;
    }
    f = at[slot];
    if (!f || f->half)
        fail("an event names a slot that has no flow");
    switch (toe_cmd_type(&c)) {
    case TOE_CMD_DATA_RECEIVED:
        if (!f->refused)
            data(f, n);
        break;
    case TOE_CMD_SEND_COMPLETE:
        f->acked += n;
        toec_port_event(cfg.user, f->owner, f, TOEC_EV_ACKED, n);
        break;
    case TOE_CMD_CLOSE_EVENT:
        if (toe_cmd_flags(&c) & TOE_F_CLOSE_EVENT_HALF) {
            if (!f->refused)
                toec_port_event(cfg.user, f->owner, f, TOEC_EV_PEER_CLOSED, 0);
            break;
        }
        if (toe_cmd_aux(&c) == TOE_R_OK)
            rest_acked(f);
        at[slot] = nullptr;
        put(toe_cmd_make(TOE_CMD_RELEASE, 0, 0, slot, 0, 0));
        gone(f, toe_cmd_aux(&c));
        break;
    default:
        fail("a command that is none");
    }
}

/* ---- frames out ---- */

toec_tcb *Gate::of_frame(const Bytes &f)
{
    const uint8_t *tcp = &f[kEth + kIp];

    for (auto x = flows.rbegin(); x != flows.rend(); ++x)
        if ((*x)->lport == be16(tcp) && (*x)->rport == be16(tcp + 2) && !(*x)->gone)
            return x->get();
    return nullptr;
}

bool Gate::transmit(const Bytes &frame)
{
    toec_tx tx = {};
    Bytes f = frame;
    uint32_t total = f.size();

    tx.hdr = f.data();
    tx.hdr_len = static_cast<uint16_t>(f.size());
    if (is_tcp(f)) {
        uint8_t *tcp = &f[kEth + kIp];
        uint8_t tail[4] = {0, 6, 0, 0};

        total = kEth + be16(&f[16]);
        uint32_t header = 4u * (tcp[12] >> 4), n = total - kEth - kIp;
        tail[2] = static_cast<uint8_t>(n >> 8);
        tail[3] = static_cast<uint8_t>(n);
        uint16_t pseudo = toec_sum_add(toec_sum(&f[26], 8), toec_sum(tail, 4), 0);
        if (toec_sum_add(pseudo, toec_sum(tcp, n), 0) != 0xffff)
            fail("TCP checksum");
        std::memcpy(tcp + 16, &pseudo, 2);
        tx.csum_start = kEth + kIp;
        tx.csum_offset = 16;
        tx.hdr_len = static_cast<uint16_t>(kEth + kIp + header);
        tx.len = total - tx.hdr_len;
        if (tx.len) {
            toec_tcb *flow = of_frame(f);

            if (!flow || flow->slot < 0)
                fail("payload of no flow");
            tx.owner = flow->owner;
            tx.off = be32(tcp + 4) - flow->iss - 1;
            for (uint32_t i = 0; i < tx.len; i++)
                if (f[tx.hdr_len + i] != pattern(flow->iss, tx.off + i))
                    fail("a byte in a segment is not what was written");
        }
    }
    if (toec_port_transmit(cfg.user, &tx) != 0) {
        counters[TOEC_C_tx_full]++;
        return false;
    }
    counters[TOEC_C_tx_frames]++;
    if (is_tcp(f) && (f[kEth + kIp + 13] & F_RST))
        counters[TOEC_C_tcp_rst_sent]++;
    return true;
}

void Gate::flush()
{
    while (!out.empty() && transmit(out.front())) {
        if (tap)
            tap(*this, out.front());
        out.pop_front();
    }
}

/* ---- core.h ---- */

extern "C" {

unsigned long toec_size(const struct toec_config *)
{
    return sizeof(struct toec_stack);
}

struct toec_stack *toec_init(void *mem, unsigned long, const struct toec_config *cfg, toec_time now)
{
    auto *s = static_cast<struct toec_stack *>(mem);

    if (gates.size() == 4)
        gates.pop_front();
    gates.push_back(std::make_unique<Gate>(*cfg, now));
    s->gate = gates.back().get();
    return s;
}

void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now)
{
    Gate &g = *s->gate;
    Bytes frame(p->data, p->data + p->len);

    g.counters[TOEC_C_rx_frames]++;
    g.now = now;
    g.in = &frame;
    g.device->receive(p->data, p->len);
    g.settle();
    g.in = nullptr;
}

toec_time toec_poll(struct toec_stack *s, toec_time now)
{
    Gate &g = *s->gate;

    g.now = now;
    g.settle();
    return g.out.empty() ? g.device->deadline() : now;
}

int toec_listen(struct toec_stack *s, const struct toec_addr *, toec_u16 port, void *owner,
                toec_u32, toec_u32 *id)
{
    Gate &g = *s->gate;

    *id = g.next_id++;
    g.listeners.push_back({*id, owner});
    g.put(toe_cmd_make(TOE_CMD_LISTEN, 0, port, *id, 0, 256));
    return 0;
}

int toec_unlisten(struct toec_stack *s, toec_u32 id)
{
    Gate &g = *s->gate;

    std::erase_if(g.listeners, [&](const auto &l) { return l.id == id; });
    g.put(toe_cmd_make(TOE_CMD_UNLISTEN, 0, 0, id, 0, 0));
    return 0;
}

int toec_connect(struct toec_stack *s, const struct toec_addr *remote, toec_u16 remote_port,
                 toec_u16 local_port, const struct toec_buffers *bufs, toec_time now,
                 struct toec_tcb **flow)
{
    Gate &g = *s->gate;
    auto f = std::make_unique<toec_tcb>();

    for (auto &x : g.flows)
        if (!x->gone && x->lport == local_port && x->rport == remote_port)
            return TOEC_E_INUSE;
    g.now = now;
    f->owner = bufs->owner;
    f->cookie = g.next_id++;
    f->lport = local_port;
    f->rport = remote_port;
    g.put(
        toe_cmd_make(TOE_CMD_CONNECT, 0, remote_port, f->cookie, be32(remote->b + 12), local_port));
    g.open++;
    *flow = f.get();
    g.flows.push_back(std::move(f));
    g.device->settle(now);
    g.flush();
    return 0;
}

/* Executes the command before it returns, so that later frames follow it. Resulting events are
 * reported at the next poll, as core/ does. */
static int at_once(struct toec_stack *s, struct toec_tcb *f, const toe_cmd &c, toec_time now)
{
    Gate &g = *s->gate;

    g.now = now;
    if (f->slot < 0 && toe_cmd_type(&c) == TOE_CMD_CLOSE && toe_cmd_flags(&c) != TOE_F_CLOSE_HALF)
        g.put(toe_cmd_make(TOE_CMD_CANCEL, 0, 0, f->cookie, 0, 0));
    else
        g.command(f, c);
    g.device->settle(now);
    g.flush();
    return 0;
}

int toec_send(struct toec_stack *s, struct toec_tcb *f, toec_u32 n, int push, toec_time now)
{
    return at_once(s, f, toe_cmd_make(TOE_CMD_SEND, push ? TOE_F_SEND_PUSH : 0, 0, 0, n, 0), now);
}

int toec_recv(struct toec_stack *s, struct toec_tcb *f, toec_u32 n, toec_time now)
{
    return at_once(s, f, toe_cmd_make(TOE_CMD_RECV, 0, 0, 0, n, 0), now);
}

int toec_shutdown(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    return at_once(s, f, toe_cmd_make(TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, 0, 0, 0), now);
}

int toec_close(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    return at_once(s, f, toe_cmd_make(TOE_CMD_CLOSE, 0, 0, 0, 0, 0), now);
}

int toec_abort(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    at_once(s, f, toe_cmd_make(TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, 0, 0, 0), now);
    s->gate->settle();
    return 0;
}

int toec_set_option(struct toec_stack *s, struct toec_tcb *f, enum toec_option opt, toec_u32 value,
                    toec_time now)
{
    return at_once(s, f, toe_cmd_make(TOE_CMD_OPTION, 0, static_cast<uint16_t>(opt), 0, value, 0),
                   now);
}

void toec_flow_info(const struct toec_stack *s, const struct toec_tcb *f, struct toec_info *out)
{
    const Gate &g = *s->gate;

    std::memset(out, 0, sizeof *out);
    out->state = TOEC_SYN_SENT;
    if (f->slot < 0)
        return;
    const Tcb &t = g.tcb(f);
    out->state = static_cast<toec_u8>(t.state);
    out->cwnd = t.cwnd;
    out->ssthresh = t.ssthresh;
    out->snd_wnd = t.snd_wnd;
    out->rcv_wnd = t.rcv_adv - t.rcv_nxt;
    out->mss_send = t.mss;
    out->in_flight = t.snd_nxt - t.snd_una;
    /* A sent FIN counts one in SND.NXT. */
    uint32_t sent = t.snd_nxt - t.iss - 1;
    if ((t.flags & Tcb::kFin) && t.snd_nxt == t.snd_end + 1)
        sent--;
    out->bytes_sent = sent;
    out->rto_us = t.rto << 10;
}

const toec_u64 *toec_counters(const struct toec_stack *s)
{
    return s->gate->counters;
}

void toec_usage(const struct toec_stack *s, struct toec_usage *out)
{
    std::memset(out, 0, sizeof *out);
    out->flows = s->gate->open;
    out->listeners = static_cast<toec_u32>(s->gate->listeners.size());
}

int toec_save(const struct toec_stack *, const struct toec_saver *, toec_time)
{
    return TOEC_E_NOBUFS;
}

const char *toec_restore(struct toec_stack *, const void *, unsigned long,
                         const struct toec_restorer *, toec_time)
{
    return "the gateware is not handed over";
}

/* Removes from a script what the gateware lacks: IPv6, ECN, ICMP errors, handover, refusal before
 * the handshake, frames of more than 1500 bytes, back-pressure of the wire. */
void script_fit(struct script *s)
{
    unsigned n = 0;

    s->set[S_ip6] = s->set[S_gso0] = s->set[S_gso1] = 0;
    s->set[S_ecn0] = s->set[S_ecn1] = TOEC_ECN_OFF;
    for (int i : {S_mtu0, S_mtu1})
        if (s->set[i] > 1500)
            s->set[i] = 1500;
    for (unsigned i = 0; i < s->n; i++) {
        enum event_op op = s->ev[i].op;

        if (op != E_hand && op != E_icmp && op != E_mark && op != E_no_open && op != E_refuse)
            s->ev[n++] = s->ev[i];
    }
    s->n = n;
}
}
