/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_twin.cpp - co-simulation: what core/tests/prop asks of its stack goes to the gateware and to
 * core/, event by event, and both must send the same segments and come to the same TCB. prop finds
 * the scripts, checks its invariants on the gateware, and shrinks a script at which the two part.
 *
 * The gateware goes first, and core/ is given its initial sequence numbers and timestamp offsets,
 * so that segments are the same to the bit. Where the two may part, EXCEPTIONS has it by name: from
 * then on a flow is not compared. core/ is linked with its names prefixed by golden_.
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
struct toec_tuple { /* core/src/tcp.h */
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
int golden_toec_cwv_validated(const golden_tcb *); /* core/src/tcp_cwv.h */
}

namespace
{

using Key = uint32_t; /* local port, remote port */

/* Why a flow is no longer compared. */
#define EXCEPTIONS(X)                                                                              \
    X(loss, "loss recovery: core/ has RACK, TLP, PRR and undoing (no-rack, no-tlp, no-prr)")       \
    X(probe, "a closed window: the probe has another form (probe-below-window)")                   \
    X(keep, "a keep-alive probe: core/ sends it with its own clock")                               \
    X(gap, "beyond a gap: SACK blocks take of a segment's payload, core/ leaves them out "         \
           "(sack-before-data); a FIN is in none")                                                 \
    X(twice,                                                                                       \
      "a part of a segment came twice: the gateware tells it by DSACK, core/ of whole ones")       \
    X(growth, "core/ judges by pipeACK whether cwnd is used, and paces what RFC 7661 has kept "    \
              "(no-window-validation)")

enum Why {
    kNone,
#define NUMBER(name, text) k_##name,
    EXCEPTIONS(NUMBER)
#undef NUMBER
        kWhys
};

const char *const texts[] = {"",
#define TEXT(name, text) text,
                             EXCEPTIONS(TEXT)
#undef TEXT
};

/* Counted over all processes that prop makes. */
struct Tally {
    uint64_t segments, tcbs, flows, apart[kWhys];
};

struct Report {
    Tally *t;
    int owner;

    Report()
        : t(static_cast<Tally *>(mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
    {
    }
    ~Report()
    {
        std::printf("compared: %llu segments, %llu TCBs, %llu flows\n",
                    static_cast<unsigned long long>(t->segments),
                    static_cast<unsigned long long>(t->tcbs),
                    static_cast<unsigned long long>(t->flows));
        for (int i = 1; i < kWhys; i++)
            std::printf("  %llu flows to their end but for: %s\n",
                        static_cast<unsigned long long>(t->apart[i]), texts[i]);
    }
} report;

struct Flow {
    Key key = 0;
    toec_tcb *gate = nullptr;
    golden_tcb *golden = nullptr;
    bool golden_gone = false;
    bool grown = false; /* cwnd has parted, see note_growth() */
    /* Before this event: of the gateware what was under way, of core/ pipeACK's word and pacing,
     * which lets cwnd grow by all that is acknowledged. */
    uint32_t flight = 0;
    bool validated = false, paced = false;
    Why apart = kNone;
    uint32_t iss = 0, ts_offset = 0;
    Why last = kNone;                        /* why they might have parted at the last event */
    bool more = false;                       /* the last SEND was without PUSH */
    std::vector<std::function<void()>> late; /* commands that wait for an answer to CONNECT */
};

constexpr toec_time kTellAgain = 30ull * 1000 * 1000 * 1000;

struct Twin {
    toec_stack gate_stack = {};
    Bytes memory;
    golden_stack *golden = nullptr;
    toec_config cfg = {};
    std::map<Key, Flow> flows;
    std::map<Key, std::vector<Bytes>> sent[2]; /* TCP headers of this event: gateware, core/ */
    std::map<uint32_t, uint32_t> listeners;
    toec_time now = 0, due = TOEC_NEVER;
    toec_time told = 0;  /* when the gateware's neighbour has told where it is */
    bool asked = false;  /* core/ asks for the neighbour */
    toec_u64 probes = 0; /* tail loss probes before this event */

    bool probed() const
    {
        return golden_toec_counters(golden)[TOEC_C_tcp_tail_probes] != probes;
    }

    Gate &gate()
    {
        return *gate_stack.gate;
    }
};

auto &twins = *new std::deque<std::unique_ptr<Twin>>; /* as gates of toe_prop.cpp */
Twin *current;

Key key_of(uint16_t lport, uint16_t rport)
{
    return uint32_t{lport} << 16 | rport;
}

/* The TCP header, without its checksum, and with the payload's length behind it. */
void note(Twin &w, int who, const uint8_t *f, uint32_t n)
{
    const uint8_t *tcp = f + kEth + kIp;
    uint32_t header = 4u * (tcp[12] >> 4), len = kEth + be16(f + 16) - kEth - kIp - header;
    Bytes b(tcp, tcp + header);
    Key key = key_of(be16(tcp), be16(tcp + 2));

    (void)n;
    b[16] = b[17] = 0;
    if (tcp[13] & F_RST) { /* its window and its options mean nothing */
        b[14] = b[15] = 0;
        b.resize(20);
        b[12] = 5 << 4;
    }
    b.push_back(static_cast<uint8_t>(len >> 8));
    b.push_back(static_cast<uint8_t>(len));
    w.sent[who][key].push_back(b);
    if (who == 0 && (tcp[13] & F_SYN)) { /* core/ will have the same */
        Flow &flow = w.flows[key];

        if (flow.iss != be32(tcp + 4)) {
            /* Where they have parted core/ may still have the old one. */
            if (!flow.apart || !flow.golden || flow.golden_gone)
                flow = Flow{};
            report.t->flows++;
        }
        flow.key = key;
        flow.iss = be32(tcp + 4);
        for (uint32_t at = 20; at + 10 <= header;) {
            if (tcp[at] <= 1) {
                at++;
                continue;
            }
            if (tcp[at] == 8)
                flow.ts_offset = be32(tcp + at + 2) - static_cast<uint32_t>(w.now >> 20);
            at += tcp[at + 1];
        }
    }
}

void on_gate_frame(Gate &g, const Bytes &f)
{
    if (current && current->gate_stack.gate == &g && is_tcp(f))
        note(*current, 0, f.data(), static_cast<uint32_t>(f.size()));
}

std::string text_of(const Bytes &b)
{
    char text[200], *at = text;

    at += std::sprintf(at, "seq %u ack %u flags %02x win %u len %u", be32(&b[4]), be32(&b[8]),
                       b[13], be16(&b[14]), be16(&b[b.size() - 2]));
    if (b.size() > 22)
        at += std::sprintf(at, " options ");
    for (size_t i = 20; i + 2 < b.size() && at < text + 150; i++)
        at += std::sprintf(at, "%02x", b[i]);
    return text;
}

/* The first of a list that the other has not. */
std::string text_of(const char *who, const std::vector<Bytes> &list,
                    const std::vector<Bytes> &other)
{
    size_t at = 0;

    while (at < list.size() && at < other.size() && list[at] == other[at])
        at++;
    if (at == list.size())
        return std::string(who) + " " + std::to_string(at) + ", no other";
    return std::string(who) + ' ' + std::to_string(list.size()) + ", the " +
           std::to_string(at + 1) + ". [" + text_of(list[at]) + "]";
}

[[noreturn]] void part(Twin &w, const char *what, const std::string &how)
{
    prop_fail(static_cast<struct host *>(w.cfg.user)->world, what, "%s", how.c_str());
}

std::string windows_of(Twin &w, const Flow &f)
{
    struct toec_info info = {};

    if (!f.gate || f.gate->slot < 0 || f.gate->gone || !f.golden || f.golden_gone)
        return "";
    golden_toec_flow_info(w.golden, f.golden, &info);
    return "; cwnd " + std::to_string(w.gate().tcb(f.gate).cwnd) + ' ' + std::to_string(info.cwnd);
}

/* May they part here? */
Why excuse(const Twin &w, const Flow &f)
{
    struct toec_info info = {};

    if (!f.gate || f.gate->slot < 0)
        return kNone;
    if ((f.gate->gone || f.golden_gone) && f.last)
        return f.last;
    const Tcb &t = f.gate->gone ? Tcb{} : const_cast<Twin &>(w).gate().tcb(f.gate);
    if (f.golden && !f.golden_gone)
        golden_toec_flow_info(w.golden, f.golden, &info);
    /* A tail loss probe takes new data, beyond cwnd and Nagle. */
    if (w.probed() || info.in_flight > info.cwnd)
        return k_loss;
    if (t.recovery || t.timeouts || t.dupacks || t.sacked || t.retransmits || info.retransmits ||
        info.ca_state != TOEC_CA_OPEN || info.timeouts)
        return k_loss;
    if (info.state >= TOEC_ESTABLISHED && info.snd_wnd < info.mss_send)
        return k_probe;
    if ((t.gaps || (t.flags & Tcb::kFinAhead)) && (t.flags & Tcb::kSack))
        return k_gap;
    if (info.pacing_rate || (f.grown && t.cwnd != info.cwnd))
        return k_growth;
    return kNone;
}

/* Is cwnd used? By pipeACK, says core/; by what was under way, the gateware. Where one of the two
 * alone has let it grow, its own measure must have said so. */
void note_growth(Twin &w, Flow &f)
{
    struct toec_info info = {};

    if (f.apart || f.grown || !f.gate || f.gate->slot < 0 || f.gate->half || f.gate->gone ||
        !f.golden || f.golden_gone)
        return;
    const Tcb &t = w.gate().tcb(f.gate);
    golden_toec_flow_info(w.golden, f.golden, &info);
    f.grown = t.cwnd > info.cwnd ? !f.validated
                                 : t.cwnd < info.cwnd && (f.paced || f.flight <= t.cwnd / 2);
    f.flight = t.snd_nxt - t.snd_una;
    f.validated = golden_toec_cwv_validated(f.golden);
    f.paced = info.pacing_rate != 0;
}

void leave(Flow &f, Why why)
{
    f.apart = why;
    report.t->apart[why]++;
}

/* In TIME-WAIT nothing can come any more: what its ACKs say of the window means nothing. */
void forget_windows(std::vector<Bytes> &list)
{
    for (Bytes &b : list)
        b[14] = b[15] = 0;
}

/* Where a write was pushed and the next one was not, the gateware still says where the first ended,
 * as Linux does; core/ knows of the last write alone. */
void forget_pushes(std::vector<Bytes> &list)
{
    for (Bytes &b : list)
        b[13] &= ~F_PSH;
}

/* A DSACK below the ACK (RFC 2883 4.1). */
bool tells_duplicate(const std::vector<Bytes> &list)
{
    for (const Bytes &b : list)
        for (size_t at = 20; at + 10 < b.size() && b[at]; at += b[at] == 1 ? 1 : b[at + 1])
            if (b[at] == 5 && static_cast<int32_t>(be32(&b[at + 2]) - be32(&b[8])) < 0)
                return true;
    return false;
}

void compare_sent(Twin &w)
{
    std::vector<Key> keys;

    for (auto &who : w.sent)
        for (auto &[key, list] : who)
            keys.push_back(key);
    for (Key key : keys) {
        auto &a = w.sent[0][key], &b = w.sent[1][key];
        auto flow = w.flows.find(key);

        if (flow != w.flows.end() && flow->second.apart)
            continue;
        if (flow != w.flows.end() && flow->second.golden_gone) {
            forget_windows(a);
            forget_windows(b);
        }
        if (flow != w.flows.end() && flow->second.more) {
            forget_pushes(a);
            forget_pushes(b);
        }
        report.t->segments += a.size();
        if (a == b)
            continue;
        Why why = flow == w.flows.end() ? kNone : excuse(w, flow->second);
        if (!why && (tells_duplicate(a) || tells_duplicate(b)))
            why = k_twice;
        if (!why)
            part(w, "segments part",
                 text_of("gateware", a, b) + "; " + text_of("core", b, a) +
                     (flow == w.flows.end() ? "" : windows_of(w, flow->second)));
        leave(flow->second, why);
    }
}

void compare_tcb(Twin &w, Flow &f)
{
    struct toec_info info = {};
    char text[300];

    if (f.apart || !f.gate || f.gate->slot < 0 || f.gate->half)
        return;
    Tcb t = {};
    if (!f.gate->gone)
        t = w.gate().tcb(f.gate);
    if (f.golden && !f.golden_gone)
        golden_toec_flow_info(w.golden, f.golden, &info);
    report.t->tcbs++;
    if (t.state < TOEC_ESTABLISHED && info.state < TOEC_ESTABLISHED) {
        if ((t.state == 0) != (info.state == 0))
            part(w, "state parts", std::to_string(t.state) + " and " + std::to_string(info.state));
        return;
    }
    uint32_t fin = (t.flags & Tcb::kFin) && static_cast<int32_t>(t.snd_una - t.snd_end) > 0;
    uint32_t acked = t.snd_una - t.iss - 1 - fin, flight = t.snd_nxt - t.snd_una;
    uint32_t window = static_cast<int32_t>(t.rcv_adv - t.rcv_nxt) > 0 ? t.rcv_adv - t.rcv_nxt : 0;
    uint32_t received = t.rcv_nxt - t.irs - 1 - ((t.flags & Tcb::kFinIn) != 0), sacked = 0;

    for (uint32_t i = 0; i < t.sacked; i++)
        sacked += t.board[i][1] - t.board[i][0];
    if (t.state == info.state && acked == static_cast<uint32_t>(info.bytes_acked) &&
        flight == info.in_flight && t.snd_wnd == info.snd_wnd && window == info.rcv_wnd &&
        received == static_cast<uint32_t>(info.bytes_received) && t.mss == info.mss_send &&
        (sacked == info.sacked || !(t.flags & Tcb::kSack)))
        return;
    if (Why why = excuse(w, f)) {
        leave(f, why);
        return;
    }
    std::snprintf(text, sizeof text,
                  "state %u %u, acknowledged %u %u, under way %u %u, SND.WND %u %u, RCV.WND %u %u, "
                  "received %u %u, MSS %u %u, SACKed %u %u (gateware, core)",
                  t.state, info.state, acked, static_cast<uint32_t>(info.bytes_acked), flight,
                  info.in_flight, t.snd_wnd, info.snd_wnd, window, info.rcv_wnd, received,
                  static_cast<uint32_t>(info.bytes_received), t.mss, info.mss_send, sacked,
                  info.sacked);
    part(w, "TCBs part", text);
}

/* Flows of the gateware by their ports. */
void find_flows(Twin &w)
{
    for (auto &f : w.gate().flows) {
        auto at = w.flows.find(key_of(f->lport, f->rport));

        if (at != w.flows.end() && (f->slot < 0 || f->iss == at->second.iss))
            at->second.gate = f.get();
    }
}

/* The gateware's flow has a slot now: the commands that waited for it have gone out. */
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

/* Both know their neighbour all the time, so that no SYN waits for one: the gateware forgets it
 * after 60 s, core/ asks and is answered at once. */
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

/* A command of a flow, to both; or to core/ later, when the gateware has a slot to give it to. */
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

/* ---- what golden core/ asks for ---- */

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
    f.golden_gone = false;
    return 0;
}

void golden_toec_port_event(void *, void *owner, golden_tcb *flow, enum toec_event ev, toec_u32)
{
    Flow *f = static_cast<Flow *>(owner);

    f->golden = flow;
    f->golden_gone = ev == TOEC_EV_GONE;
}

/* ---- what prop asks for ---- */

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

void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now)
{
    Twin &w = begin(s, now);

    gate_input(&w.gate_stack, p, now);
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
    w.sent[0].clear(); /* half-open flows: reset, as the contract has it; core/ drops them */
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
    if (r == 0 && !segments.empty()) { /* else its port is still in TIME-WAIT there */
        Flow &f = w.flows[key_of(lport, rport)];

        mine.owner = &f;
        if (golden_toec_connect(w.golden, remote, rport, lport, &mine, now, &golden) == 0) {
            f.golden = golden;
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
    /* An attempt is given up by CANCEL, which resets what the peer has answered meanwhile. */
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

/* gate_usage: the structure has the function's name, which is another here. */
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

/* Congestion control is the exceptions' business; no time at all in FIN-WAIT-2 is over before core/
 * has been asked. */
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
