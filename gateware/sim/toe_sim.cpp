/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_sim.cpp - the gateware TOE as a process. It implements the device contract on the same socket
 * as toed, so that libtoe and all tools work with it unchanged. card.h is the hardware, hosts.h the
 * socket, port.h the source and sink of packets.
 */
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

#include "card.h"
#include "hosts.h"
#include "port.h"
#include "regs.h"
#include "toe_counters.h"
#include "toe_options.h"

namespace sim
{

void die(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    std::fputs("toe_sim: ", stderr);
    std::vfprintf(stderr, format, args);
    std::fputc('\n', stderr);
    va_end(args);
    std::exit(code);
}

uint64_t now_ns()
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

} // namespace sim

namespace
{

using sim::die;

constexpr unsigned kBurst = 64;                /* cycles between polls of sockets and ports */
constexpr uint64_t kIdleNs = 1u << 20;         /* step of virtual time while idle */
constexpr uint64_t kStart = uint64_t{1} << 32; /* virtual time's first nanosecond */
#if TOE_HYBRID
/* A frame takes its time on a link of 1 Gbit/s, at 250 MHz. Otherwise what a peer sends within a
 * second of the machine's clock arrives at once, and no number of RX buffers is enough. */
constexpr uint64_t kByteCycles = 2;
constexpr uint64_t kSettled = 256; /* a processor that sleeps so long has nothing to do */
constexpr uint64_t kRested = kSettled / 2;
#else
constexpr uint64_t kByteCycles = 0;
constexpr uint64_t kSettled = 4096;
constexpr uint64_t kRested = kSettled; /* leaves enough cycles for a scan of the timers */
#endif
constexpr uint64_t kGapBytes = 24; /* preamble, check sequence and gap of a frame */

volatile sig_atomic_t stop_asked;

using sim::Options;

class Simulation
{
  public:
    explicit Simulation(const Options &o)
        : options_(o), port_(sim::open_port(o.netif)), hosts_(o.hosts, o.netif),
          card_(o.card, {[this](uint64_t address) { return memory(address); },
                         [this](unsigned q) { hosts_.interrupt(q); },
                         [this](const sim::Frame &f) { lost_ += !port_->send(f, card_.time()); },
                         [this](const sim::Frame &f, bool out, uint64_t cycle) {
                             hosts_.passed(f, out, cycle);
                         }}),
          server_(
              o.regs, [this](uint32_t a, uint32_t &v) { return card_.read(a, v); },
              [this](uint32_t a, uint32_t v) { return card_.write(a, v); })
    {
        pass_time();
        sim::start(card_, o.hosts, o.seed);
        hosts_.use(&card_);
        if (o.trigger >= 0)
            trigger_ = TOE_AT(COUNTERS) + 8 * static_cast<uint32_t>(o.trigger);
    }

    void run()
    {
        std::printf("toe_sim: ready on %s, %u flows\n", options_.hosts.socket.c_str(),
                    hosts_.flows());
        std::fflush(stdout);
        while (!stop_asked && !life_is_over() && card_.cycles() < options_.cycles) {
            look();
            for (unsigned i = 0; i < kBurst; i++)
                card_.cycle();
            if (card_.quiet() > kSettled + scan())
                idle();
        }
        if (options_.life < 0)
            report();
    }

  private:
    uint8_t *memory(uint64_t address)
    {
        uint8_t *at = hosts_.memory(address);

        if (!at && !told_++)
            std::fprintf(stderr,
                         "toe_sim: the TOE reached for host memory that is not there: %llx\n",
                         static_cast<unsigned long long>(address));
        return at;
    }

    /* The cycles in which a flow's timers are looked at. */
    uint64_t scan() const
    {
        return TOE_HYBRID ? 0 : 2 * hosts_.flows();
    }

    void pass_time()
    {
        if (!options_.card.virtual_time)
            card_.set_time(sim::now_ns());
        else if (card_.time() < kStart)
            card_.set_time(kStart);
    }

    void look()
    {
        sim::Frame frame;

        pass_time();
        while (card_.waiting() < 64 && card_.cycles() >= next_frame_ &&
               port_->receive(frame, card_.time())) {
            next_frame_ = card_.cycles() + kByteCycles * (frame.size() + kGapBytes);
            card_.receive(frame);
        }
        hosts_.look();
        if (trigger_ && card_.reg(trigger_)) {
            card_.trigger();
            trigger_ = 0;
        }
        if (++looks_ % 16 == 0) {
            hosts_.serve();
            server_.serve();
        }
    }

    /* Sleeps until an event arrives or a timer may be due. */
    void idle()
    {
        std::vector<struct pollfd> fds;

        hosts_.say_asleep(true);
        card_.rest(1);
        hosts_.look();
        if (card_.quiet() && !port_->awake()) {
            hosts_.add_to(fds);
            server_.add_to(fds);
            if (port_->fd() >= 0)
                fds.push_back({port_->fd(), POLLIN, 0});
            if (options_.life >= 0)
                fds.push_back({options_.life, POLLIN, 0});
            poll(fds.data(), fds.size(), options_.card.virtual_time ? 1 : 5);
        }
        if (options_.card.virtual_time)
            card_.set_time(card_.time() + kIdleNs);
        hosts_.say_asleep(false);
        hosts_.serve();
        server_.serve();
        card_.rest(kRested);
    }

    /* Returns true when the pipe's other end is closed and no queue pair is left. */
    bool life_is_over()
    {
        char byte;

        return options_.life >= 0 && looks_ % 16 == 0 && !hosts_.any() &&
               read(options_.life, &byte, 1) == 0;
    }

    void report()
    {
        std::fprintf(stderr, "toe_sim: %llu cycles, %llu strayed, %llu unlawful, %llu not sent\n",
                     static_cast<unsigned long long>(card_.cycles()),
                     static_cast<unsigned long long>(card_.strayed),
                     static_cast<unsigned long long>(card_.unlawful),
                     static_cast<unsigned long long>(lost_));
        for (size_t i = 0; i < sizeof toe_counters / sizeof toe_counters[0]; i++) {
            uint32_t n = card_.reg(TOE_AT(COUNTERS) + 8 * static_cast<uint32_t>(i));

            if (n)
                std::fprintf(stderr, "  %s %u\n", toe_counters[i], n);
        }
    }

    Options options_;
    std::unique_ptr<sim::Port> port_; /* first: if it fails to open, no socket file is left */
    sim::Hosts hosts_;
    sim::Card card_;
    sim::RegServer server_;
    uint64_t looks_ = 0, lost_ = 0, told_ = 0, next_frame_ = 0;
    uint32_t trigger_ = 0;
};

void on_signal(int)
{
    stop_asked = 1;
}

/* Installs a timer whose signal interrupts a call that a host has made block (hosts.cpp). */
void end_waits()
{
    struct sigaction act = {};
    const struct itimerval each = {{0, 100000}, {0, 100000}};

    act.sa_handler = [](int) {};
    sigaction(SIGALRM, &act, nullptr); /* without SA_RESTART */
    setitimer(ITIMER_REAL, &each, nullptr);
}

} // namespace

int main(int argc, char **argv)
{
    Options options = sim::parse(argc, argv);

    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    end_waits();
    if (options.life >= 0)
        fcntl(options.life, F_SETFL, O_NONBLOCK);
    Simulation(options).run();
    return 0;
}
