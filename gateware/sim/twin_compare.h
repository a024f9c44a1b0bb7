/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twin_compare.h - part of toe_twin.cpp: the state of both stacks, the comparison after each event,
 * and the permitted differences.
 */
#ifndef TWIN_COMPARE_H
#define TWIN_COMPARE_H

namespace
{

using Key = uint32_t; /* local port, remote port */

/* Reasons why a flow is no longer compared. */
#define EXCEPTIONS(X)                                                                              \
    X(loss, "loss recovery: core/ has RACK, TLP, PRR and undoing (no-rack, no-tlp, no-prr)")       \
    X(probe, "a closed window: the probe has another form (probe-below-window)")                   \
    X(keep, "a keep-alive probe: core/ sends it with its own clock")                               \
    X(gap, "beyond a gap: SACK blocks take of a segment's payload, core/ leaves them out "         \
           "(sack-before-data); a FIN is in none")                                                 \
    X(twice, "a part of a segment came twice: the gateware sends a DSACK for it, core/ for whole " \
             "ones only")                                                                          \
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

/* Shared by all processes that prop forks. */
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
            std::printf("  %llu flows to their end, except: %s\n",
                        static_cast<unsigned long long>(t->apart[i]), texts[i]);
    }
} report;

struct Flow {
    Key key = 0;
    toec_tcb *gate = nullptr;
    golden_tcb *golden = nullptr;
    bool opened = false, golden_gone = false; /* in core/: exists, freed; half-open: no handle */
    bool grown = false;                       /* cwnd differs, see note_growth() */
    /* Before this event: the gateware's bytes in flight; whether core/ judged cwnd validated by
     * pipeACK; whether core/ paced, which lets cwnd grow by all acknowledged bytes. */
    uint32_t flight = 0;
    bool validated = false, paced = false;
    Why apart = kNone;
    uint32_t iss = 0, ts_offset = 0;
    Why last = kNone;                    /* permitted reason to differ at the last event */
    bool more = false;                   /* the last SEND had no PUSH */
    bool active = false, stamps = false; /* our SYN waits for an answer; timestamps negotiated */
    std::vector<std::function<void()>> late; /* commands queued until CONNECT is answered */
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
    toec_time told = 0;  /* when the gateware last heard from the neighbour */
    bool asked = false;  /* core/ is resolving the neighbour */
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

auto &twins = *new std::deque<std::unique_ptr<Twin>>; /* never freed, as `gates` in toe_prop.cpp */
Twin *current;

Key key_of(uint16_t lport, uint16_t rport)
{
    return uint32_t{lport} << 16 | rport;
}

/* Records a TCP header without its checksum, followed by the payload length. */
void note(Twin &w, int who, const uint8_t *f, uint32_t n)
{
    const uint8_t *tcp = f + kEth + kIp;
    uint32_t header = 4u * (tcp[12] >> 4), len = kEth + be16(f + 16) - kEth - kIp - header;
    Bytes b(tcp, tcp + header);
    Key key = key_of(be16(tcp), be16(tcp + 2));

    (void)n;
    b[16] = b[17] = 0;
    if (tcp[13] & F_RST) { /* the window and options of a RST are meaningless */
        b[14] = b[15] = 0;
        b.resize(20);
        b[12] = 5 << 4;
    }
    b.push_back(static_cast<uint8_t>(len >> 8));
    b.push_back(static_cast<uint8_t>(len));
    w.sent[who][key].push_back(b);
    if (who == 0 && (tcp[13] & F_SYN)) { /* core/ will use the same ISN and timestamp offset */
        Flow &flow = w.flows[key];

        if (flow.iss != be32(tcp + 4)) {
            /* After a permitted difference, core/ may still hold the old flow. */
            if (!flow.apart || !flow.opened || flow.golden_gone)
                flow = Flow{};
            report.t->flows++;
        }
        flow.key = key;
        flow.iss = be32(tcp + 4);
        flow.active = !(tcp[13] & F_ACK);
        flow.stamps = false;
        for (uint32_t at = 20; at + 10 <= header;) {
            if (tcp[at] <= 1) {
                at++;
                continue;
            }
            flow.stamps |= tcp[at] == 8 && !flow.active;
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

/* Describes the first entry of a list that differs from the other list. */
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

/* Returns the reason why the two may differ here, or kNone. */
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
    /* A tail loss probe sends new data regardless of cwnd and Nagle. */
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

/* core/ judges by pipeACK whether cwnd is used, the gateware by the bytes in flight. When only one
 * of them grew cwnd, its own measure must have permitted it. */
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

/* In TIME-WAIT no data can arrive: the window in its ACKs is meaningless. */
void forget_windows(std::vector<Bytes> &list)
{
    for (Bytes &b : list)
        b[14] = b[15] = 0;
}

/* When a write with PUSH precedes one without, the gateware still sets PSH at the end of the first,
 * as Linux does; core/ only remembers the last write. */
void forget_pushes(std::vector<Bytes> &list)
{
    for (Bytes &b : list)
        b[13] &= ~F_PSH;
}

/* core/ sets PSH at the end of a burst of several segments too (no-push-of-bursts). */
void forget_burst_pushes(const std::vector<Bytes> &gateware, std::vector<Bytes> &core)
{
    for (size_t i = 1; i < core.size() && i < gateware.size(); i++)
        if ((core[i][13] & F_PSH) && !(gateware[i][13] & F_PSH))
            core[i][13] &= ~F_PSH;
}

/* Returns true for a DSACK below the ACK (RFC 2883 4.1). */
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
        forget_burst_pushes(a, b);
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

} // namespace

#endif
