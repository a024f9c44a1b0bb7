/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_bench.cpp - benchmarks the gateware TOE between a wire that is never idle and a host that is
 * never slow, so that the TOE is the limit. Each run measures one case and prints JSON. Time is
 * counted in cycles only, so results are the same on every machine. bench/gateware.py runs the
 * cases.
 */
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <getopt.h>
#include <string>
#include <vector>

#include "driver.h"
#include "peer.h"
#include "toe_counters.h"

extern "C" {
#include <toe/number.h>
#include <toe/ring.h>
}

namespace
{

using sim::Frame;
using sim::Peer;

constexpr uint64_t kStart = uint64_t{1} << 32; /* virtual time's first nanosecond */
constexpr unsigned kSlots = 128;
constexpr uint32_t kBuffer = 65536;
constexpr unsigned kUnderWay = 48; /* packets sent, not yet notified: fewer than packet buffers */
constexpr unsigned kLeastMss = 64; /* the TOE's least MSS, whatever the peer's option */
constexpr uint64_t kPatience = 50000; /* cycles without progress */
constexpr unsigned kMarks = 8;
constexpr unsigned kBusy = 16; /* flows at most whose TCBs stay on chip */
constexpr size_t kCounters = sizeof toe_counters / sizeof toe_counters[0];

[[noreturn]] __attribute__((format(printf, 2, 3))) void die(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    std::fputs("toe_bench: ", stderr);
    std::vfprintf(stderr, format, args);
    std::fputc('\n', stderr);
    va_end(args);
    std::exit(code);
}

struct Options {
    std::string what;
    unsigned payload = 128, flows = 64, delay = 1;
    uint64_t packets = 1000, interval = 0; /* picoseconds between frames; 0: none */
    bool paced = false;                    /* no more frames than there are packet buffers */
    unsigned hits = 0;                     /* percentage for busy flows; 0: round robin */
};

/* The host's state of a flow. */
struct Socket {
    uint32_t slot = kSlots;
    uint64_t told = 0, returned = 0; /* bytes received, bytes freed */
    uint64_t written = 0, acked = 0;
};

/* Edges between the modules in order of time, recorded while g_walked is set (toe_walk.sv). */
struct Edge {
    uint64_t cycle;
    std::string name;
};
const sim::Card *g_walked; /* null: not recording */
std::vector<Edge> g_edges;
uint64_t g_passes; /* of events through the pipeline (FPC 0) */

class Bench
{
  public:
    explicit Bench(const Options &o)
        : o_(o), card_(outside(o), {[this](uint64_t address) { return memory(address); },
                                    [](unsigned) {}, [this](const Frame &f) { leaves(f); }}),
          peer_(own(), o.flows, mss(), [this](Frame f) { card_.receive(std::move(f)); }),
          sockets_(o.flows)
    {
        card_.set_time(kStart);
        sim::start(card_, own(), 1);
        attach();
        connect();
    }

    void run()
    {
        std::printf("{\"case\":\"%s\",\"payload\":%u,\"flows\":%u,\"delay\":%u", o_.what.c_str(),
                    o_.payload, o_.flows, o_.delay);
        if (o_.what == "receive")
            stream([this] { offer(); }, [this] { return packets_told(); },
                   [this] { return told_; });
        else if (o_.what == "send")
            stream([this] { write(); }, [this] { return peer_.segments(); },
                   [this] { return peer_.bytes(); });
        else if (o_.what == "frames")
            frames();
        else if (o_.what == "walk")
            walk();
        else
            latency();
        finish();
    }

  private:
    static sim::Card::Options outside(const Options &o)
    {
        sim::Card::Options card;

        card.delay = o.delay;
        card.virtual_time = true;
        return card;
    }

    static sim::Own own()
    {
        sim::Own own;

        for (unsigned i = 0; i < 4; i++)
            own.ip[i] = own.gateway[i] = static_cast<uint8_t>(i == 0 ? 10 : i == 3 ? 1 : 0);
        own.gateway[3] = 2;
        return own;
    }

    unsigned mss() const
    {
        return o_.what == "send" ? std::max(o_.payload, kLeastMss) : 1460;
    }

    /* ---- the host ---- */

    void attach()
    {
        config_.sw_entries = 1024;
        config_.hw_entries = 4096;
        config_.slots = kSlots;
        config_.tx_size = config_.rx_size = kBuffer;
        if (toedev_layout(&config_, &layout_) != 0)
            die(1, "no such queue pair");
        memory_.resize(layout_.total + TOEDEV_PAGE);
        area_ = memory_.data() +
                (TOEDEV_PAGE - reinterpret_cast<uintptr_t>(memory_.data()) % TOEDEV_PAGE);
        sim::configure(card_, 0, config_, layout_, 0, true, false);
        while (!(sim::state(card_, 0) & TOE_REGS__QP_STATE__ATTACHED_bm))
            card_.cycle();
        auto *status = reinterpret_cast<toedev_status *>(area_ + layout_.status);
        toe_ring_tx_init(&sw_, area_ + layout_.sw_ring, config_.sw_entries, &status->sw_tail);
        toe_ring_rx_init(&hw_, area_ + layout_.hw_ring, config_.hw_entries);
    }

    uint8_t *memory(uint64_t address)
    {
        uint64_t at = address - (uint64_t{1} << sim::kAreaShift);

        if (at + sim::kBeat > layout_.total)
            return nullptr;
        /* These areas are only written by the card. */
        if (at >= layout_.hw_ring && at < layout_.records && !commanded_)
            commanded_ = card_.cycles();
        if (at >= watch_ && at < watch_ + kBuffer && !placed_)
            placed_ = card_.cycles();
        return area_ + at;
    }

    void command(uint8_t type, uint32_t flow, uint16_t aux = 0, uint32_t arg0 = 0,
                 uint32_t arg1 = 0, uint8_t flags = 0)
    {
        commands_.push_back(toe_cmd_make(type, flags, aux, flow, arg0, arg1));
    }

    /* Publishes a batch of commands and rings the doorbell. */
    void flush()
    {
        bool any = false;

        while (!commands_.empty() && (toe_ring_has_room(&sw_) || toe_ring_room(&sw_) != 0)) {
            toe_ring_put(&sw_, &commands_.front());
            commands_.pop_front();
            any = true;
        }
        if (any)
            card_.set(TOE_BELL(0, SW_HEAD), sw_.head);
        if (hw_.tail - hw_told_ >= config_.hw_entries / 4) {
            hw_told_ = hw_.tail;
            card_.set(TOE_BELL(0, HW_TAIL), hw_told_);
        }
    }

    /* Runs one cycle and the host's work common to all cases. */
    void step()
    {
        toe_cmd c;

        card_.cycle();
        while (toe_ring_get(&hw_, &c))
            take(c);
        flush();
        if (card_.cycles() - swept_ > 64)
            sweep();
        if (!peer_.wrong().empty())
            die(1, "%s", peer_.wrong().c_str());
    }

    /* Acknowledges a flow's last, single segment. */
    void sweep()
    {
        swept_ = card_.cycles();
        for (unsigned i = 0; i < o_.flows; i++) {
            const Peer::Flow &f = peer_.flow(i);

            if (f.unacked && f.segments == last_segments_[i])
                peer_.acknowledge(i);
            last_segments_[i] = f.segments;
        }
    }

    template <typename Done> void wait(const char *what, Done done)
    {
        uint64_t end = card_.cycles() + kPatience;

        while (!done()) {
            step();
            if (card_.cycles() > end)
                die(1, "%s does not come", what);
        }
    }

    void take(const toe_cmd &c)
    {
        uint32_t slot = toe_cmd_flow(&c), n = toe_cmd_arg0(&c);
        unsigned i = slot < kSlots ? of_slot_[slot] : 0;

        switch (toe_cmd_type(&c)) {
        case TOE_CMD_LISTEN_ESTABLISHED:
            i = toe_cmd_aux(&c) - Peer::kFirstPort;
            if (slot >= kSlots || i >= o_.flows)
                die(1, "a connection that no queue pair has opened");
            of_slot_[slot] = i;
            sockets_[i].slot = slot;
            open_++;
            command(TOE_CMD_ACCEPT, slot);
            command(TOE_CMD_OPTION, slot, TOE_OPT_NODELAY, 1);
            break;
        case TOE_CMD_DATA_RECEIVED:
            received(i, n);
            break;
        case TOE_CMD_SEND_COMPLETE:
            sockets_[i].acked += n;
            break;
        default:
            die(1, "%s of slot %u, which no command requested", toe_cmd_name(toe_cmd_type(&c)),
                slot);
        }
    }

    void received(unsigned i, uint32_t n)
    {
        Socket &s = sockets_[i];
        const uint8_t *from = area_ + toedev_rx_offset(&config_, &layout_, s.slot);

        for (uint32_t k = 0; k < n; k++)
            if (from[(s.told + k) % kBuffer] != sim::pattern(i, true, s.told + k))
                die(1, "flow %u: byte %llu received is not the one that was sent", i,
                    static_cast<unsigned long long>(s.told + k));
        s.told += n;
        told_ += n;
        if (s.told - s.returned >= kBuffer / 4) {
            command(TOE_CMD_RECV, s.slot, 0, static_cast<uint32_t>(s.told - s.returned));
            s.returned = s.told;
        }
    }

    void announce_bytes(unsigned i, uint32_t n)
    {
        Socket &s = sockets_[i];
        uint8_t *to = area_ + toedev_tx_offset(&config_, &layout_, s.slot);

        for (uint32_t k = 0; k < n; k++)
            to[(s.written + k) % kBuffer] = sim::pattern(i, false, s.written + k);
        s.written += n;
        command(TOE_CMD_SEND, s.slot, 0, n, 0, TOE_F_SEND_PUSH);
    }

    /* ---- the wire ---- */

    void leaves(const Frame &f)
    {
        uint64_t before = peer_.segments();

        peer_.take(f);
        if (peer_.segments() != before)
            sent_at_ = card_.sent_at();
    }

    void connect()
    {
        last_segments_.resize(o_.flows);
        command(TOE_CMD_LISTEN, 1, Peer::kPort, 0, 256);
        peer_.announce();
        for (unsigned i = 0; i < 2000; i++)
            step();
        for (unsigned i = 0; i < o_.flows; i++) {
            unsigned want = i + 1;

            peer_.open(i);
            wait("a connection", [&] { return open_ == want; });
        }
        for (unsigned i = 0; i < 2000; i++)
            step();
    }

    /* ---- streams at full rate ---- */

    uint64_t packets_told() const
    {
        return told_ / o_.payload;
    }

    void offer()
    {
        for (unsigned tries = 0; tries < o_.flows && card_.waiting() < 8;) {
            if (offered_ - packets_told() >= kUnderWay)
                return;
            if (peer_.send(next_, o_.payload)) {
                offered_++;
                tries = 0;
            } else {
                tries++;
            }
            next_ = (next_ + 1) % o_.flows;
        }
    }

    /* Below the TOE's least MSS, the host sends each segment by its own command. */
    void write()
    {
        const uint32_t each = o_.payload < kLeastMss ? o_.payload : kBuffer / 8;

        for (unsigned i = 0; i < o_.flows; i++) {
            Socket &s = sockets_[i];
            bool room = o_.payload < kLeastMss ? peer_.flow(i).got == s.written
                                               : s.written + each - s.acked <= kBuffer;

            if (room && commands_.size() < 64)
                announce_bytes(i, each);
        }
    }

    template <typename Feed, typename Count, typename Bytes>
    void stream(Feed feed, Count count, Bytes bytes)
    {
        uint64_t moved = card_.cycles(), last = 0, warm = o_.packets / 2 + 8 * o_.flows;
        std::string marks;
        uint64_t next = warm;

        for (unsigned made = 0; made <= kMarks;) {
            feed();
            step();
            uint64_t n = count();
            if (n != last) {
                moved = card_.cycles();
                last = n;
            }
            if (card_.cycles() - moved > kPatience)
                die(1, "nothing moves any more, after %llu packets",
                    static_cast<unsigned long long>(n));
            if (n < next)
                continue;
            char text[100];
            std::snprintf(text, sizeof text, "%s[%llu,%llu,%llu]", made ? "," : "",
                          static_cast<unsigned long long>(card_.cycles()),
                          static_cast<unsigned long long>(n),
                          static_cast<unsigned long long>(bytes()));
            marks += text;
            made++;
            next = n + o_.packets / kMarks;
        }
        std::printf(",\"marks\":[%s]", marks.c_str());
    }

    /* ---- frames without payload, paced or one per cycle ---- */

    /* Returns the flow of frame n: `hits` percent belong to a few busy flows. The other flows take
     * turns, so that each has lost its TCB from the chip when its next frame arrives. */
    unsigned flow_of(uint64_t n)
    {
        /* Few enough that each recurs before the others' TCBs evict its own. */
        unsigned busy =
            o_.hits == 100 ? kBusy : std::clamp(8 * o_.hits / (100 - o_.hits), 1U, kBusy);

        busy = std::min(busy, o_.flows);
        if (o_.hits == 0)
            return static_cast<unsigned>(n % o_.flows);
        if (n * o_.hits % 100 + o_.hits >= 100 || busy == o_.flows)
            return static_cast<unsigned>(busy_turn_++ % busy);
        return busy + static_cast<unsigned>(rest_turn_++ % (o_.flows - busy));
    }

    void frames()
    {
        std::vector<Frame> ready;
        uint64_t begin, due = 0;

        for (unsigned i = 0; i < o_.flows; i++)
            ready.push_back(peer_.bare(i));
        uint64_t lost = counter("no_buffer"), fetched = counter("fetched"), passes = g_passes;
        begin = card_.cycles();
        for (uint64_t n = 0; n < o_.packets;) {
            for (; n < o_.packets && card_.waiting() < 4 &&
                   due <= (card_.cycles() - begin) * sim::kCycleNs * 1000 &&
                   (!o_.paced || n - (g_passes - passes) < kUnderWay);
                 n++, due += o_.interval)
                card_.receive(ready[flow_of(n)]);
            step();
        }
        while (card_.waiting())
            step();
        uint64_t cycles = card_.cycles() - begin;
        for (unsigned i = 0; i < 2000; i++)
            step();
        std::printf(",\"interval_ps\":%llu,\"cycles\":%llu,\"offered\":%llu,\"dropped\":%llu,"
                    "\"fetched\":%llu",
                    static_cast<unsigned long long>(o_.interval),
                    static_cast<unsigned long long>(cycles),
                    static_cast<unsigned long long>(o_.packets),
                    static_cast<unsigned long long>(counter("no_buffer") - lost),
                    static_cast<unsigned long long>(counter("fetched") - fetched));
    }

    /* ---- one segment at a time ---- */

    void rest()
    {
        for (unsigned i = 0; i < 3000; i++)
            step();
    }

    /* Measures in cycles: from a segment's first beat to its first byte in host memory, and to its
     * notification; from a command's doorbell to the first beat of its segment. */
    void latency()
    {
        std::string rows;

        for (uint64_t n = 0; n < o_.packets; n++) {
            unsigned i = static_cast<unsigned>(n % o_.flows);
            Socket &s = sockets_[i];
            uint64_t want = told_ + o_.payload, segments = peer_.segments();
            char text[100];

            rest();
            watch_ = toedev_rx_offset(&config_, &layout_, s.slot);
            placed_ = commanded_ = 0;
            uint64_t from = card_.cycles();
            if (!peer_.send(i, o_.payload))
                die(1, "the TOE's window is shut");
            wait("what was sent", [&] { return told_ == want; });
            uint64_t placed = placed_ - from, commanded = commanded_ - from;
            rest();
            announce_bytes(i, o_.payload);
            from = card_.cycles();
            flush();
            wait("a segment", [&] { return peer_.segments() != segments; });
            std::snprintf(text, sizeof text, "%s[%llu,%llu,%llu]", n ? "," : "",
                          static_cast<unsigned long long>(placed),
                          static_cast<unsigned long long>(commanded),
                          static_cast<unsigned long long>(sent_at_ - from));
            rows += text;
        }
        std::printf(",\"cycles\":[%s]", rows.c_str());
    }

    /* ---- the path of one segment and of one command ---- */

    template <typename Begin, typename Done>
    void way(const char *name, const char *what, Begin begin, Done done)
    {
        std::string rows;

        rest();
        g_edges.clear();
        g_walked = &card_;
        uint64_t from = card_.cycles();
        begin();
        wait(what, done);
        g_walked = nullptr;
        for (const Edge &e : g_edges)
            rows += (rows.empty() ? "[" : ",[") + std::to_string(e.cycle - from) + ",\"" + e.name +
                    "\"]";
        std::printf(",\"%s\":[%s]", name, rows.c_str());
    }

    void walk()
    {
        uint64_t want = told_ + o_.payload, segments = peer_.segments();

        way(
            "segment", "what was sent", [&] { peer_.send(0, o_.payload); },
            [&] { return told_ == want; });
        way(
            "command", "a segment",
            [&] {
                announce_bytes(0, o_.payload);
                flush();
            },
            [&] { return peer_.segments() != segments; });
    }

    /* ---- the end ---- */

    uint32_t counter(const char *name)
    {
        for (size_t i = 0; i < kCounters; i++)
            if (std::strcmp(toe_counters[i], name) == 0)
                return card_.reg(TOE_AT(COUNTERS) + 8 * static_cast<uint32_t>(i));
        die(1, "no counter %s", name);
    }

    void finish()
    {
        bool first = true;

        std::printf(",\"counters\":{");
        for (const char *name : toe_counters)
            if (uint32_t n = counter(name)) {
                std::printf("%s\"%s\":%u", first ? "" : ",", name, n);
                first = false;
            }
        std::printf("}}\n");
        if (card_.strayed || card_.unlawful)
            die(1, "%llu reaches for memory that is not there, %llu unlawful bursts",
                static_cast<unsigned long long>(card_.strayed),
                static_cast<unsigned long long>(card_.unlawful));
    }

    Options o_;
    toedev_qp_config config_ = {};
    struct toedev_layout layout_ = {};
    std::vector<uint8_t> memory_;
    uint8_t *area_ = nullptr;
    sim::Card card_;
    Peer peer_;
    std::vector<Socket> sockets_;
    unsigned of_slot_[kSlots] = {};
    toe_ring_tx sw_ = {};
    toe_ring_rx hw_ = {};
    uint32_t hw_told_ = 0;
    std::deque<toe_cmd> commands_;
    std::vector<uint64_t> last_segments_;
    unsigned open_ = 0, next_ = 0;
    uint64_t busy_turn_ = 0, rest_turn_ = 0;
    uint64_t offered_ = 0, told_ = 0, sent_at_ = 0, swept_ = 0;
    uint64_t watch_ = UINT64_MAX / 2, placed_ = 0, commanded_ = 0;
};

const char kUsage[] =
    "usage: toe_bench CASE [OPTION...]\n"
    "The gateware TOE, simulated, at the limit of what it does; JSON on standard output.\n"
    "  receive          streams from the wire; send: to it\n"
    "  frames           segments without payload\n"
    "  latency          one segment, one command at a time\n"
    "  walk             each edge between the modules on their way, with its cycle\n"
    "  --payload N      bytes of a segment, 1 to 1460 (128)\n"
    "  --flows N        1 to 128 (64)\n"
    "  --packets N      to measure, 8 to 10000000 (1000)\n"
    "  --delay CYCLES   until host memory answers, 1 to 10000 (1)\n"
    "  --interval PS    frames: picoseconds from one to the next (0: as fast as the stream is)\n"
    "  --hits N         frames: N of 100 are of few busy flows, the others of all the rest in "
    "turn;\n"
    "                   one FPC, at most 48 under way, so that none is dropped\n"
    "Exit codes: 0 done, 1 a byte is wrong, or nothing moves, 2 usage.\n";

uint64_t count(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number_c(text, min, max, &v, want, sizeof want))
        die(2, "--%s %s: want %s", option, text, want);
    return v;
}

const struct option kKnown[] = {{"payload", 1, nullptr, 'p'},  {"flows", 1, nullptr, 'f'},
                                {"packets", 1, nullptr, 'n'},  {"delay", 1, nullptr, 'd'},
                                {"interval", 1, nullptr, 'i'}, {"hits", 1, nullptr, 'H'},
                                {"help", 0, nullptr, 'h'},     {nullptr, 0, nullptr, 0}};

Options parse(int argc, char **argv)
{
    Options o;
    int c;

    while ((c = getopt_long(argc, argv, "", kKnown, nullptr)) != -1) {
        switch (c) {
        case 'p':
            o.payload = static_cast<unsigned>(count("payload", optarg, 1, 1460));
            break;
        case 'f':
            o.flows = static_cast<unsigned>(count("flows", optarg, 1, kSlots));
            break;
        case 'n':
            o.packets = count("packets", optarg, kMarks, 10000000);
            break;
        case 'd':
            o.delay = static_cast<unsigned>(count("delay", optarg, 1, 10000));
            break;
        case 'i':
            o.interval = count("interval", optarg, 0, 1000000000);
            break;
        case 'H':
            o.paced = true;
            o.hits = static_cast<unsigned>(count("hits", optarg, 0, 100));
            break;
        case 'h':
            std::fputs(kUsage, stdout);
            std::exit(0);
        default:
            std::fputs(kUsage, stderr);
            std::exit(2);
        }
    }
    if (optind + 1 == argc)
        o.what = argv[optind];
    if (o.what != "receive" && o.what != "send" && o.what != "frames" && o.what != "latency" &&
        o.what != "walk")
        die(2, "a case: receive, send, frames, latency or walk; --help lists the options");
    return o;
}

} // namespace

/* Records that an edge fires in this cycle. Called through DPI. */
extern "C" void toe_walk_edge(const char *name)
{
    g_passes += std::strncmp(name, "pipeline", 8) == 0;
    if (g_walked)
        g_edges.push_back({g_walked->cycles(), name});
}

int main(int argc, char **argv)
{
    Bench(parse(argc, argv)).run();
    return 0;
}
