/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_twin.cpp - co-simulation. Each call of core/tests/prop goes to the gateware and to core/,
 * event by event; both must send the same segments and reach the same TCB. prop generates the
 * scripts, checks its invariants on the gateware, and shrinks a script on which the two differ.
 *
 * The gateware runs first. core/ then uses its initial sequence numbers and timestamp offsets, so
 * that segments are equal to the bit. EXCEPTIONS (twin_compare.h) lists the permitted differences:
 * after one, the flow is no longer compared. The names of core/ are prefixed by golden_.
 */
#define toec_size       gate_size
#define toec_init       gate_init
#define toec_input      gate_input
#define toec_poll       gate_poll
#define toec_listen     gate_listen
#define toec_unlisten   gate_unlisten
#define toec_connect    gate_connect
#define toec_send       gate_send
#define toec_recv       gate_recv
#define toec_shutdown   gate_shutdown
#define toec_close      gate_close
#define toec_abort      gate_abort
#define toec_set_option gate_set_option
#define toec_flow_info  gate_flow_info
#define toec_counters   gate_counters
#define toec_usage      gate_usage
#define toec_save       gate_save
#define toec_restore    gate_restore
#define script_fit      gate_fit
#include "toe_prop.cpp"
#undef toec_size
#undef toec_init
#undef toec_input
#undef toec_poll
#undef toec_listen
#undef toec_unlisten
#undef toec_connect
#undef toec_send
#undef toec_recv
#undef toec_shutdown
#undef toec_close
#undef toec_abort
#undef toec_set_option
#undef toec_flow_info
#undef toec_counters
#undef toec_usage
#undef toec_save
#undef toec_restore
#undef script_fit

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <sys/mman.h>

struct golden_stack;
struct golden_tcb;
struct toec_tuple { /* core/src/tcp/tcp.h */
    const struct toec_addr *local, *remote;
    toec_u16 local_port, remote_port;
};

extern "C" {
unsigned long golden_toec_size(const struct toec_config *);
golden_stack *golden_toec_init(void *, unsigned long, const struct toec_config *, toec_time);
void golden_toec_input(golden_stack *, const struct toec_packet *, toec_time);
toec_time golden_toec_poll(golden_stack *, toec_time);
int golden_toec_listen(golden_stack *, const struct toec_addr *, toec_u16, void *, toec_u32,
                       toec_u32 *);
int golden_toec_unlisten(golden_stack *, toec_u32);
int golden_toec_connect(golden_stack *, const struct toec_addr *, toec_u16, toec_u16,
                        const struct toec_buffers *, toec_time, golden_tcb **);
int golden_toec_send(golden_stack *, golden_tcb *, toec_u32, int, toec_time);
int golden_toec_recv(golden_stack *, golden_tcb *, toec_u32, toec_time);
int golden_toec_shutdown(golden_stack *, golden_tcb *, toec_time);
int golden_toec_close(golden_stack *, golden_tcb *, toec_time);
int golden_toec_abort(golden_stack *, golden_tcb *, toec_time);
int golden_toec_set_option(golden_stack *, golden_tcb *, enum toec_option, toec_u32, toec_time);
void golden_toec_flow_info(const golden_stack *, const golden_tcb *, struct toec_info *);
const toec_u64 *golden_toec_counters(const golden_stack *);
int golden_toec_cwv_validated(const golden_tcb *); /* core/src/cc/tcp_cwv.h */
}

#include "twin_compare.h"

namespace
{

/* Links each entry of the map to the gateware's flow with the same ports and ISN. */
void find_flows(Twin &w)
{
    for (auto &f : w.gate().flows) {
        auto at = w.flows.find(key_of(f->lport, f->rport));

        if (at != w.flows.end() && (f->slot < 0 || f->iss == at->second.iss))
            at->second.gate = f.get();
    }
}

/* Runs core/'s queued commands once the gateware's flow has a slot and has sent its own. */
void catch_up(Twin &w, Flow &f)
{
    if (f.late.empty() || !f.gate || f.gate->slot < 0)
        return;
    for (auto &command : f.late)
        if (f.golden && !f.golden_gone)
            command();
    f.late.clear();
    w.due = golden_toec_poll(w.golden, w.now);
}

void after(Twin &w)
{
    uint8_t answer[128];

    w.due = golden_toec_poll(w.golden, w.now);
    find_flows(w);
    for (auto &[key, f] : w.flows)
        catch_up(w, f);
    while (w.asked) {
        struct toec_packet p = {};

        w.asked = false;
        p.data = answer;
        p.head_len = p.len = neighbour_answer(answer);
        golden_toec_input(w.golden, &p, w.now);
        w.due = golden_toec_poll(w.golden, w.now);
    }
    for (auto &[key, f] : w.flows)
        note_growth(w, f);
    compare_sent(w);
    for (auto &[key, f] : w.flows) {
        compare_tcb(w, f);
        f.last = excuse(w, f);
    }
    w.sent[0].clear();
    w.sent[1].clear();
    current = nullptr;
}

/* Refreshes the gateware's neighbour entry, which expires after 60 s. core/ resolves its neighbour
 * and is answered at once. So no SYN waits for a neighbour on either side. */
void tell_neighbour(Twin &w)
{
    uint8_t hello[128];
    uint32_t n = neighbour_answer(hello);

    w.told = w.now;
    w.gate().now = w.now;
    w.gate().device->receive(hello, n);
    w.gate().settle();
}

Twin &begin(struct toec_stack *s, toec_time now)
{
    Twin &w = *reinterpret_cast<Twin *>(s->gate);

    w.now = now;
    w.probes = golden_toec_counters(w.golden)[TOEC_C_tcp_tail_probes];
    current = &w;
    if (now - w.told >= kTellAgain)
        tell_neighbour(w);
    return w;
}

Flow *flow_of(Twin &w, toec_tcb *f)
{
    find_flows(w);
    auto at = w.flows.find(key_of(f->lport, f->rport));

    return at == w.flows.end() || at->second.golden_gone ? nullptr : &at->second;
}

/* Passes a flow's command to both. While the gateware has no slot for the flow, core/'s part is
 * queued. */
template <typename G, typename C>
int both(struct toec_stack *s, toec_tcb *f, toec_time now, bool waits, G to_gate, C to_golden)
{
    Twin &w = begin(s, now);
    Flow *flow = flow_of(w, f);

    waits = waits && f->slot < 0;
    int r = to_gate(&w.gate_stack);

    if (flow && flow->golden) {
        if (waits)
            flow->late.push_back(
                [&w, flow, to_golden] { to_golden(w.golden, flow->golden, w.now); });
        else
            to_golden(w.golden, flow->golden, now);
    }
    after(w);
    return r;
}

} // namespace

extern "C" {

/* ---- callbacks of golden core/ ---- */

toec_u32 golden_toec_isn(golden_stack *, const struct toec_tuple *id, toec_time)
{
    return current ? current->flows[key_of(id->local_port, id->remote_port)].iss : 0;
}

toec_u32 golden_toec_ts_offset(golden_stack *, const struct toec_tuple *id)
{
    return current ? current->flows[key_of(id->local_port, id->remote_port)].ts_offset : 0;
}

int golden_toec_port_transmit(void *, const struct toec_tx *tx)
{
    if (tx->hdr[12] == 8 && tx->hdr[13] == 6)
        current->asked |= asks_for_peer(tx->hdr) != 0;
    else if (tx->hdr[23] == 6)
        note(*current, 1, tx->hdr, tx->hdr_len);
    return 0;
}

void golden_toec_port_place(void *, void *, toec_u32, const struct toec_packet *, toec_u32,
                            toec_u32)
{
}

toec_u16 golden_toec_port_checksum(void *, const struct toec_packet *p, toec_u32 off, toec_u32 len)
{
    return toec_sum(p->data + off, len);
}

void golden_toec_port_copy(void *, void *to, const struct toec_packet *p, toec_u32 off,
                           toec_u32 len)
{
    std::memcpy(to, p->data + off, len);
}

int golden_toec_port_open(void *, void *, const struct toec_open *info, struct toec_buffers *out)
{
    const struct host *h = static_cast<struct host *>(current->cfg.user);
    Flow &f = current->flows[key_of(info->local_port, info->remote_port)];

    out->owner = &f;
    out->tx_size = h->tx_buf;
    out->rx_size = h->rx_buf;
    f.golden = nullptr;
    f.opened = true;
    f.golden_gone = false;
    return 0;
}

void golden_toec_port_event(void *, void *owner, golden_tcb *flow, enum toec_event ev, toec_u32)
{
    Flow *f = static_cast<Flow *>(owner);

    f->golden = flow;
    f->golden_gone = ev == TOEC_EV_GONE;
}

/* ---- the API that prop calls ---- */

unsigned long toec_size(const struct toec_config *)
{
    return sizeof(struct toec_stack);
}

struct toec_stack *toec_init(void *mem, unsigned long, const struct toec_config *cfg, toec_time now)
{
    auto *s = static_cast<struct toec_stack *>(mem);
    auto w = std::make_unique<Twin>();
    uint8_t hello[128];

    tap = on_gate_frame;
    w->cfg = *cfg;
    if (w->cfg.cc != TOEC_CC_NEWRENO)
        w->cfg.cc = TOEC_CC_CUBIC;
    w->cfg.rfc1337 = 1; /* the gateware ignores a RST in TIME-WAIT (rfc1337) */
    w->cfg.max_flows = w->cfg.max_records = w->cfg.max_time_wait = kSlots;
    w->cfg.mtu_probing = TOEC_MTU_PROBING_OFF;
    gate_init(&w->gate_stack, sizeof w->gate_stack, cfg, now);
    w->memory.resize(golden_toec_size(&w->cfg) + 64);
    void *at = w->memory.data() + (64 - reinterpret_cast<uintptr_t>(w->memory.data()) % 64);
    w->golden = golden_toec_init(at, w->memory.size() - 64, &w->cfg, now);
    s->gate = reinterpret_cast<Gate *>(w.get());
    twins.push_back(std::move(w));
    if (twins.size() > 4)
        twins.pop_front();
    Twin &t = begin(s, now);
    tell_neighbour(t);
    uint32_t n = neighbour_answer(hello);
    struct toec_packet p = {};
    p.data = hello;
    p.head_len = p.len = n;
    golden_toec_input(t.golden, &p, now);
    after(t);
    return s;
}

/* Returns whether a TCP header has the timestamp option. */
bool has_stamp(const uint8_t *tcp)
{
    uint32_t end = 4u * (tcp[12] >> 4);

    for (uint32_t at = 20; at < end && tcp[at] != 0; at += tcp[at] == 1 ? 1 : tcp[at + 1]) {
        if (tcp[at] == 8)
            return true;
        if (tcp[at] != 1 && (at + 1 >= end || tcp[at + 1] < 2))
            return false;
    }
    return false;
}

/* Returns whether the gateware drops a segment for want of the negotiated timestamp (RFC 7323 3.2).
 * core/ accepts it, as Linux does (timestamps-required), so it is kept from core/. */
bool is_stampless(Twin &w, const struct toec_packet *p)
{
    const uint8_t *tcp = p->data + kEth + kIp;

    if (p->head_len < kEth + kIp + 20 || be16(p->data + 12) != 0x0800 || p->data[14] != 0x45 ||
        p->data[23] != 6 || p->head_len < kEth + kIp + 4u * (tcp[12] >> 4))
        return false;
    auto at = w.flows.find(key_of(be16(tcp + 2), be16(tcp)));
    if (at == w.flows.end() || at->second.golden_gone || (tcp[13] & F_RST))
        return false;
    if (tcp[13] & F_SYN) {
        if (at->second.active && (tcp[13] & F_ACK) && be32(tcp + 8) == at->second.iss + 1) {
            at->second.active = false;
            at->second.stamps = has_stamp(tcp);
        }
        return false;
    }
    return at->second.stamps && !has_stamp(tcp);
}

void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now)
{
    Twin &w = begin(s, now);
    bool stampless = is_stampless(w, p);

    gate_input(&w.gate_stack, p, now);
    if (!stampless)
        golden_toec_input(w.golden, p, now);
    after(w);
}

toec_time toec_poll(struct toec_stack *s, toec_time now)
{
    Twin &w = begin(s, now);
    toec_time due = gate_poll(&w.gate_stack, now);

    after(w);
    return std::min(due, w.due);
}

int toec_listen(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port, void *owner,
                toec_u32 backlog, toec_u32 *id)
{
    Twin &w = begin(s, s ? reinterpret_cast<Twin *>(s->gate)->now : 0);
    toec_u32 other;
    int r = gate_listen(&w.gate_stack, addr, port, owner, backlog, id);

    golden_toec_listen(w.golden, addr, port, &w, 256, &other);
    w.listeners[*id] = other;
    w.gate().settle();
    after(w);
    return r;
}

int toec_unlisten(struct toec_stack *s, toec_u32 id)
{
    Twin &w = begin(s, reinterpret_cast<Twin *>(s->gate)->now);
    int r = gate_unlisten(&w.gate_stack, id);

    golden_toec_unlisten(w.golden, w.listeners[id]);
    w.gate().settle();
    w.sent[0].clear(); /* the contract resets half-open flows; core/ drops them */
    after(w);
    return r;
}

int toec_connect(struct toec_stack *s, const struct toec_addr *remote, toec_u16 rport,
                 toec_u16 lport, const struct toec_buffers *bufs, toec_time now,
                 struct toec_tcb **flow)
{
    Twin &w = begin(s, now);
    struct toec_buffers mine = *bufs;
    golden_tcb *golden = nullptr;
    int r = gate_connect(&w.gate_stack, remote, rport, lport, bufs, now, flow);

    auto &segments = w.sent[0][key_of(lport, rport)];
    if (r == 0 && !segments.empty()) { /* else the port is still in TIME-WAIT in the gateware */
        Flow &f = w.flows[key_of(lport, rport)];

        mine.owner = &f;
        if (golden_toec_connect(w.golden, remote, rport, lport, &mine, now, &golden) == 0) {
            f.golden = golden;
            f.opened = true;
            f.golden_gone = false;
        }
    }
    after(w);
    return r;
}

int toec_send(struct toec_stack *s, struct toec_tcb *f, toec_u32 n, int push, toec_time now)
{
    static const bool differs = std::getenv("TOE_TWIN_DIFFERS"); /* test_toe_twin.py */

    auto &flows = reinterpret_cast<Twin *>(s->gate)->flows;
    auto at = flows.find(key_of(f->lport, f->rport));

    if (at != flows.end())
        at->second.more = !push;
    return both(
        s, f, now, true, [&](toec_stack *g) { return gate_send(g, f, n, push, now); },
        [=](golden_stack *g, golden_tcb *t, toec_time at) {
            golden_toec_send(g, t, n, push && !differs, at);
        });
}

int toec_recv(struct toec_stack *s, struct toec_tcb *f, toec_u32 n, toec_time now)
{
    return both(
        s, f, now, true, [&](toec_stack *g) { return gate_recv(g, f, n, now); },
        [=](golden_stack *g, golden_tcb *t, toec_time at) { golden_toec_recv(g, t, n, at); });
}

int toec_shutdown(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    return both(
        s, f, now, true, [&](toec_stack *g) { return gate_shutdown(g, f, now); },
        [=](golden_stack *g, golden_tcb *t, toec_time at) { golden_toec_shutdown(g, t, at); });
}

int toec_close(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    /* CANCEL ends a connection attempt, and resets it if the peer has answered in the meantime. */
    bool cancels = f->slot < 0;

    return both(
        s, f, now, false, [&](toec_stack *g) { return gate_close(g, f, now); },
        [=](golden_stack *g, golden_tcb *t, toec_time at) {
            cancels ? golden_toec_abort(g, t, at) : golden_toec_close(g, t, at);
        });
}

int toec_abort(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    return both(
        s, f, now, false, [&](toec_stack *g) { return gate_abort(g, f, now); },
        [=](golden_stack *g, golden_tcb *t, toec_time at) { golden_toec_abort(g, t, at); });
}

int toec_set_option(struct toec_stack *s, struct toec_tcb *f, enum toec_option opt, toec_u32 value,
                    toec_time now)
{
    return both(
        s, f, now, true, [&](toec_stack *g) { return gate_set_option(g, f, opt, value, now); },
        [=](golden_stack *g, golden_tcb *t, toec_time at) {
            golden_toec_set_option(g, t, opt, value, at);
        });
}

void toec_flow_info(const struct toec_stack *s, const struct toec_tcb *f, struct toec_info *out)
{
    gate_flow_info(&reinterpret_cast<Twin *>(s->gate)->gate_stack, f, out);
}

const toec_u64 *toec_counters(const struct toec_stack *s)
{
    return gate_counters(&reinterpret_cast<Twin *>(s->gate)->gate_stack);
}

/* struct gate_usage: the macros above rename the structure with the function. */
void toec_usage(const struct toec_stack *s, struct gate_usage *out)
{
    gate_usage(&reinterpret_cast<Twin *>(s->gate)->gate_stack, out);
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

/* Options that are not compared: congestion control (see EXCEPTIONS), and LINGER2 of 0, which ends
 * FIN-WAIT-2 before core/ runs. */
bool apart(const event &e)
{
    return e.a[2] == TOEC_OPT_CC || (e.a[2] == TOEC_OPT_LINGER2 && e.a[3] == 0);
}

void script_fit(struct script *s)
{
    unsigned n = 0;

    gate_fit(s);
    for (unsigned i = 0; i < s->n; i++)
        if (s->ev[i].op != E_arp && !(s->ev[i].op == E_option && apart(s->ev[i])))
            s->ev[n++] = s->ev[i];
    s->n = n;
}
}
