/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - serves toed's socket protocol (toe/attach.h) for a card. Maps each host's memory for
 * the card's DMA, forwards its doorbells as register writes, and signals its eventfd on MSI-X
 * messages.
 */
#ifndef GATEWARE_SIM_HOSTS_H
#define GATEWARE_SIM_HOSTS_H

#include <cstdint>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <vector>

#include "capture.h"
#include "driver.h"
#if !TOE_HYBRID
#include "verdict.h"
#endif

extern "C" {
#include <toe/attach.h>
}

namespace sim
{

class Hosts
{
  public:
    struct Options : Own {
        std::string socket = TOEDEV_DEFAULT_SOCKET;
    };

    /* netif: the source of packets, as the user has named it. */
    Hosts(const Options &o, const std::string &netif);
    ~Hosts();
    Hosts(const Hosts &) = delete;
    Hosts &operator=(const Hosts &) = delete;

    void use(Card *card); /* must be ready */
    uint8_t *memory(uint64_t address);
    void interrupt(unsigned q);

    /* For a capture: a frame that has passed the card's link. */
    void passed(const Frame &f, bool out, uint64_t cycle)
    {
#if TOE_HYBRID
        if (capture_.fd() >= 0)
            capture_.frame(f, out, card_->time(), cycle);
#else
        verdicts_.frame(f, out, card_->time(), cycle, capture_);
        verdicts_.settle(capture_);
#endif
    }

    void look();      /* polls the doorbells */
    void serve();     /* handles attach, query and detach */
    bool any() const; /* is any queue pair in use? */
    /* Call say_asleep() before and after a sleep; add_to() appends what may end it. */
    void say_asleep(bool asleep);
    void add_to(std::vector<struct pollfd> &fds) const;
    uint32_t flows() const
    {
        return flows_;
    }

  private:
    enum class Life { kFree, kLive, kDetaching };
    struct QueuePair {
        Life life = Life::kFree;
        int control = -1, irq = -1, doorbell = -1;
        toedev_qp_config config = {};
        struct toedev_layout layout = {};
        uint8_t *area = nullptr;
        uint16_t first = 0;
        uint32_t slots = 0; /* flows reserved; 0 before attach */
        toedev_doorbells seen = {};
        pid_t pid = 0;
        int pidfd = -1; /* readable after its owner exits */
        uid_t uid = 0;
        std::string name;

        toedev_doorbells *bells() const;
        toedev_status *status() const;
    };

    void make_page();
    void refresh_page();
    /* A connection that has not sent its hello yet. */
    struct Greeting {
        int fd;
        uint64_t deadline;
    };
    /* A host's message and the descriptors passed with it. */
    struct Said {
        toedev_hello hello = {};
        int fds[4] = {-1, -1, -1, -1}, count = 0;
        ssize_t bytes = 0;
    };

    static bool hear(int fd, Said &said);
    static void drop(const Said &said);
    bool owner_gone(QueuePair &p);
    bool greet(int fd);
    void refuse(int fd, const char *why);
    const char *attach(int fd, const toedev_hello &hello, const int *fds, int count);
    const char *answer(int fd, const toedev_hello &hello);
    void end_capture();
    const char *begin_capture(int fd, const toedev_hello &hello);
    int find_flows(uint32_t n) const;
    void configure(unsigned q, bool enable, bool detach);
    void welcome(int to, unsigned q, const int *fds, unsigned count);
    void look_at_bells(unsigned q);
    void tend(unsigned q);
    std::string statistics();
    static std::string help();

    static constexpr unsigned kQps = 8;
    Options options_;
    std::string netif_;
    Capture capture_;
#if !TOE_HYBRID
    Verdicts verdicts_;
#endif
    Card *card_ = nullptr;
    QueuePair qps_[kQps];
    std::vector<Greeting> greeting_;
    int listener_ = -1, page_fd_ = -1;
    toe_regs_t *page_ = nullptr;
    uint64_t page_looks_ = 0; /* looks left during which the page is refreshed */
    uint64_t looks_ = 0, started_ = 0;
    uint32_t flows_ = 0;
};

/* Prints the message and exits with `code`. */
[[noreturn]] void die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t now_ns();

} // namespace sim

#endif
