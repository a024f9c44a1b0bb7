/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts.h"

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "listen.h"
#include "toe_counters.h"

namespace sim
{

namespace
{

#if TOE_HYBRID
#define TOE_KIND "hybrid"
#else
#define TOE_KIND "gateware"
#endif
#if TOE_HYBRID == 2
#define TOE_ENGINE "hybrid prototype"
#elif TOE_HYBRID == 3
#define TOE_ENGINE "hybrid complete"
#else
#define TOE_ENGINE TOE_KIND
#endif

constexpr size_t kSilent = 64;              /* connections without a hello at most, */
constexpr uint64_t kSilentNs = 5000000000u; /* ... each for this time at most */
constexpr uint64_t kPageLooks = 1u << 16;   /* looks the register page stays current for */

/* Polls before each read or write. The host shares these descriptors and may make them blocking at
 * any time; a call that blocks after the poll is interrupted by the timer of toe_sim.cpp. */
bool ready(int fd, short what)
{
    struct pollfd p = {fd, what, 0};

    return poll(&p, 1, 0) == 1 && (p.revents & what);
}

/* Returns true when a TOE already listens at this address. */
bool answers(const struct sockaddr_un &at)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool yes = connect(fd, reinterpret_cast<const struct sockaddr *>(&at), sizeof at) == 0;

    close(fd);
    return yes;
}

} // namespace

toedev_doorbells *Hosts::QueuePair::bells() const
{
    return reinterpret_cast<toedev_doorbells *>(area + layout.doorbells);
}

toedev_status *Hosts::QueuePair::status() const
{
    return reinterpret_cast<toedev_status *>(area + layout.status);
}

Hosts::Hosts(const Options &o, const std::string &netif)
    : options_(o), netif_(netif), started_(now_ns())
{
    struct sockaddr_un at = {};

    if (o.socket.size() >= sizeof at.sun_path)
        die(2, "--socket %s: the path is too long for a socket", o.socket.c_str());
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, o.socket.c_str(), o.socket.size());
    if (answers(at))
        die(1, "--socket %s: a TOE answers there already", o.socket.c_str());
    if (!remove_socket(o.socket))
        die(1, "--socket %s: cannot take the place of what is there: %s", o.socket.c_str(),
            std::strerror(errno));
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener_ < 0 ||
        bind(listener_, reinterpret_cast<struct sockaddr *>(&at), sizeof at) != 0 ||
        listen(listener_, 64) != 0)
        die(1, "--socket %s: %s", o.socket.c_str(), std::strerror(errno));
}

Hosts::~Hosts()
{
    remove_socket(options_.socket);
}

void Hosts::use(Card *card)
{
    card_ = card;
    flows_ = card->reg(TOE_AT(FLOWS));
    make_page();
}

/* ---- memory and interrupts ---- */

uint8_t *Hosts::memory(uint64_t address)
{
    uint64_t q = (address >> kAreaShift) - 1;
    uint64_t offset = address & ((uint64_t{1} << kAreaShift) - 1);

    if (q < kQps && qps_[q].area && offset + kBeat <= qps_[q].layout.total)
        return qps_[q].area + offset;
    return nullptr;
}

void Hosts::interrupt(unsigned q)
{
    uint64_t one = 1;

    /* A full eventfd counter is still unread: the host is about to wake. */
    if (q < kQps && qps_[q].irq >= 0 && ready(qps_[q].irq, POLLOUT))
        (void)!::write(qps_[q].irq, &one, sizeof one);
}

/* ---- doorbells ---- */

void Hosts::look()
{
    for (unsigned q = 0; q < kQps; q++)
        if (qps_[q].life == Life::kLive)
            look_at_bells(q);
    if (page_looks_ && --page_looks_ % 1024 == 0)
        refresh_page();
}

/* Writes each doorbell that the host has changed, heads and tails last. */
void Hosts::look_at_bells(unsigned q)
{
    QueuePair &p = qps_[q];
    const toedev_doorbells *b = p.bells();
    toedev_doorbells now = {};

#define LOOK(name, field, order)                                                                   \
    now.field = __atomic_load_n(&b->field, order);                                                 \
    if (now.field != p.seen.field) {                                                               \
        p.seen.field = now.field;                                                                  \
        card_->rest(0);                                                                            \
        card_->set(TOE_BELL(q, name), now.field);                                                  \
    }
    LOOK(IRQ_COUNT, irq_count, __ATOMIC_RELAXED)
    LOOK(IRQ_USEC, irq_usec, __ATOMIC_RELAXED)
    LOOK(IRQ_ARM, irq_arm, __ATOMIC_RELAXED)
    LOOK(IRQ_SEQ, irq_seq, __ATOMIC_ACQUIRE)
    LOOK(HW_TAIL, hw_tail, __ATOMIC_ACQUIRE)
    LOOK(SW_HEAD, sw_head, __ATOMIC_ACQUIRE)
#undef LOOK
}

void Hosts::say_asleep(bool asleep)
{
    for (QueuePair &p : qps_) {
        uint64_t count;

        if (p.life != Life::kLive)
            continue;
        __atomic_store_n(&p.status()->sleeping, static_cast<uint32_t>(asleep), __ATOMIC_SEQ_CST);
        if (!asleep && ready(p.doorbell, POLLIN))
            (void)!::read(p.doorbell, &count, sizeof count);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void Hosts::add_to(std::vector<struct pollfd> &fds) const
{
    fds.push_back({listener_, POLLIN, 0});
    if (capture_.fd() >= 0)
        fds.push_back({capture_.fd(), POLLIN, 0});
    for (const Greeting &g : greeting_)
        fds.push_back({g.fd, POLLIN, 0});
    for (const QueuePair &p : qps_) {
        if (p.control >= 0)
            fds.push_back({p.control, POLLIN, 0});
        if (p.pidfd >= 0 && p.life == Life::kLive)
            fds.push_back({p.pidfd, POLLIN, 0});
        if (p.doorbell >= 0)
            fds.push_back({p.doorbell, POLLIN, 0});
    }
}

bool Hosts::any() const
{
    for (const QueuePair &p : qps_)
        if (p.life != Life::kFree)
            return true;
    return !greeting_.empty();
}

/* ---- connections of hosts ---- */

void Hosts::serve()
{
    int fd;

#if !TOE_HYBRID
    verdicts_.settle(capture_); /* of frames that came before the link fell silent */
#endif
    while ((fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (greeting_.size() < kSilent)
            greeting_.push_back({fd, now_ns() + kSilentNs});
        else
            close(fd);
    }
    for (size_t i = 0; i < greeting_.size();) {
        bool over = greet(greeting_[i].fd);

        if (!over && now_ns() > greeting_[i].deadline) {
            close(greeting_[i].fd);
            over = true;
        }
        if (over)
            greeting_.erase(greeting_.begin() + static_cast<std::ptrdiff_t>(i));
        else
            i++;
    }
    end_capture();
    for (unsigned q = 0; q < kQps; q++)
        tend(q);
}

/* Reads a message; false: none is pending. */
bool Hosts::hear(int fd, Said &said)
{
    struct iovec part = {&said.hello, sizeof said.hello};
    alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    struct msghdr message = {};

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    said.bytes = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
    if (said.bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    for (struct cmsghdr *c = said.bytes > 0 ? CMSG_FIRSTHDR(&message) : nullptr; c;
         c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            said.count = static_cast<int>((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            std::memcpy(said.fds, CMSG_DATA(c), static_cast<size_t>(said.count) * sizeof(int));
        }
    return true;
}

void Hosts::drop(const Said &said)
{
    for (int i = 0; i < said.count; i++)
        close(said.fds[i]);
}

/* Handles a hello. Returns true when the connection leaves the greeting list. */
bool Hosts::greet(int fd)
{
    Said said;
    const char *wrong = nullptr;
    bool stays = false;

    if (!hear(fd, said))
        return false;
    if (said.bytes != sizeof said.hello)
        wrong = "no hello of this contract";
    else if (said.hello.magic != TOEDEV_MAGIC || said.hello.version != TOEDEV_CONTRACT_VERSION)
        wrong = "another contract than version 1";
    else if (said.hello.kind == TOEDEV_HELLO_ATTACH) {
        wrong = attach(fd, said.hello, said.fds, said.count);
        stays = !wrong;
    } else if (said.hello.kind == TOEDEV_HELLO_CAPTURE) {
        wrong = begin_capture(fd, said.hello);
        stays = !wrong;
        drop(said);
        said.count = 0;
    } else
        wrong = answer(fd, said.hello);
    if (wrong && said.bytes > 0)
        refuse(fd, wrong);
    if (!stays) {
        drop(said);
        close(fd);
    }
    return true;
}

/* Answers hellos that attach no queue pair: queries and the register page. */
const char *Hosts::answer(int fd, const toedev_hello &hello)
{
    if (hello.kind == TOEDEV_HELLO_QUERY) {
        std::string text = statistics();

        if (strncmp(hello.name, TOEDEV_QUERY_HELP, sizeof hello.name) == 0)
            text = text.substr(0, text.size() - 1) + ",\"help\":" + help() + "}";
        (void)!send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        return nullptr;
    }
    if (hello.kind == TOEDEV_HELLO_REGISTERS) {
        page_looks_ = kPageLooks;
        refresh_page();
        welcome(fd, 0, &page_fd_, 1);
        return nullptr;
    }
    return "the " TOE_KIND " TOE has no offloads to switch, no measurements and no handover";
}

/* Ends the capture if its tool has. */
void Hosts::end_capture()
{
    if (capture_.fd() >= 0 && ready(capture_.fd(), POLLIN))
        capture_.end();
}

/* Begins a capture, which lasts as long as the connection. */
const char *Hosts::begin_capture(int fd, const toedev_hello &hello)
{
    Capture::About about = {TOE_ENGINE, netif_, {}};
    std::string request(hello.name, strnlen(hello.name, sizeof hello.name));
    int memory;
    const char *wrong;

    std::memcpy(about.mac, options_.mac, sizeof about.mac);
    end_capture(); /* one that ended just now is not in the way */
    wrong = capture_.begin(fd, about, request, card_->time(), &memory);
    if (wrong)
        return wrong;
    welcome(fd, 0, &memory, 1);
    close(memory);
    return nullptr;
}

void Hosts::refuse(int fd, const char *why)
{
    toedev_welcome w = {};

    w.magic = TOEDEV_MAGIC;
    w.version = TOEDEV_CONTRACT_VERSION;
    w.reason = TOE_R_INVAL;
    std::snprintf(w.message, sizeof w.message, "%s", why);
    (void)!send(fd, &w, sizeof w, MSG_NOSIGNAL);
}

/* Returns the first of n free flows, a multiple of n; -1: there are none. */
int Hosts::find_flows(uint32_t n) const
{
    for (uint32_t at = 0; at + n <= flows_; at += n) {
        bool free = true;

        for (const QueuePair &p : qps_)
            if (p.slots && at < p.first + p.slots && p.first < at + n)
                free = false;
        if (free)
            return static_cast<int>(at);
    }
    return -1;
}

const char *Hosts::attach(int fd, const toedev_hello &hello, const int *fds, int count)
{
    unsigned q = 0;
    struct toedev_layout layout;
    static char why[128];
    struct ucred who = {};
    socklen_t who_size = sizeof who;
    int first;
    void *area;

    if (hello.engine != 0)
        return "the " TOE_KIND " TOE has one engine";
    if (count != 2)
        return "area and interrupt are two descriptors";
    if (toedev_layout(&hello.qp, &layout) != 0)
        return "the configuration of the queue pair is out of its ranges";
    if (hello.qp.tx_size < 4096 || hello.qp.rx_size < 4096 || hello.qp.tx_size > 1u << 20 ||
        hello.qp.rx_size > 1u << 20)
        return "buffers of the " TOE_KIND " TOE have 4 KiB to 1 MiB (TOEHOLD_TX_SIZE, _RX_SIZE)";
    while (q < kQps && qps_[q].life != Life::kFree)
        q++;
    if (q == kQps)
        return "all queue pairs are in use";
    first = find_flows(hello.qp.slots);
    if (first < 0)
        return "not so many flows are left: ask for fewer slots (TOEHOLD_SLOTS)";
    if (toedev_check_area(fds[0], layout.total, why, sizeof why) != 0 ||
        toedev_check_irq(fds[1], 0, why, sizeof why) != 0)
        return why;
    area = mmap(nullptr, layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
    if (area == MAP_FAILED)
        return "the area cannot be mapped";
    close(fds[0]);
    (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size);
    QueuePair &p = qps_[q];

    p.control = fd;
    p.irq = fds[1];
    p.doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    p.config = hello.qp;
    p.layout = layout;
    p.area = static_cast<uint8_t *>(area);
    p.first = static_cast<uint16_t>(first);
    p.slots = hello.qp.slots;
    p.seen = {};
    p.pid = who.pid;
    p.pidfd = who.pid > 0 ? static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0)) : -1;
    p.uid = who.uid;
    p.name.assign(hello.name, strnlen(hello.name, sizeof hello.name));
    for (char &c : p.name)
        if (c < ' ' || c == '"' || c == '\\' || c > '~')
            c = '?'; /* printed in JSON without escapes */
    configure(q, true, false);
    while (!(state(*card_, q) & TOE_REGS__QP_STATE__ATTACHED_bm))
        card_->cycle();
    p.life = Life::kLive;
    tell_ip6(*p.status(), options_.ip6);
    int out[2] = {page_fd_, p.doorbell};

    welcome(fd, q, out, 2);
    return nullptr;
}

void Hosts::configure(unsigned q, bool enable, bool detach)
{
    const QueuePair &p = qps_[q];

    sim::configure(*card_, q, p.config, p.layout, p.first, enable, detach);
}

void Hosts::welcome(int to, unsigned q, const int *fds, unsigned count)
{
    toedev_welcome w = {};
    struct iovec part = {&w, sizeof w};
    alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    struct msghdr message = {};
    struct cmsghdr *c;

    w.magic = TOEDEV_MAGIC;
    w.version = TOEDEV_CONTRACT_VERSION;
    w.qp_id = q;
    w.engines = 1;
    w.mtu = options_.mtu;
    w.prefix_len = static_cast<uint8_t>(options_.prefix);
    w.flags = TOEDEV_WELCOME_STAYS;
    std::memcpy(w.mac, options_.mac, sizeof w.mac);
    std::memcpy(w.ip, options_.ip, sizeof w.ip);
    std::memcpy(w.gateway, options_.gateway, sizeof w.gateway);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    (void)!sendmsg(to, &message, MSG_NOSIGNAL);
}

/* Returns true when the connection or the process has ended; a child may keep the connection open.
 * The only message an owner may send is that another process now owns the queue pair. */
bool Hosts::owner_gone(QueuePair &p)
{
    Said said;

    if (hear(p.control, said)) {
        bool moved = said.bytes == sizeof said.hello && said.hello.magic == TOEDEV_MAGIC &&
                     said.hello.version == TOEDEV_CONTRACT_VERSION &&
                     said.hello.kind == TOEDEV_HELLO_MOVED && said.count == 1;
        pid_t to = moved ? toedev_process_of(said.fds[0], p.uid) : 0;

        if (!to) {
            drop(said);
            return true;
        }
        if (p.pidfd >= 0)
            close(p.pidfd);
        p.pidfd = said.fds[0];
        p.pid = to;
    }
    return p.pidfd >= 0 && ready(p.pidfd, POLLIN);
}

/* Resets the flows of a queue pair without owner, then frees it. */
void Hosts::tend(unsigned q)
{
    QueuePair &p = qps_[q];

    if (p.life == Life::kLive) {
        if (owner_gone(p)) {
            configure(q, true, true);
            p.life = Life::kDetaching;
            card_->rest(0);
        }
    } else if (p.life == Life::kDetaching) {
        if (!(state(*card_, q) & TOE_REGS__QP_STATE__DETACHED_bm))
            return;
        for (unsigned i = 0; i < 1000; i++)
            card_->cycle(); /* time to send RSTs */
        configure(q, false, false);
        for (unsigned i = 0; i < 100; i++)
            card_->cycle();
        munmap(p.area, p.layout.total);
        close(p.control);
        close(p.irq);
        close(p.doorbell);
        if (p.pidfd >= 0)
            close(p.pidfd);
        p = QueuePair{};
    }
}

/* ---- the register page for hosts and tools ---- */

void Hosts::make_page()
{
    page_fd_ = memfd_create("toe registers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (page_fd_ < 0 || ftruncate(page_fd_, TOEDEV_PAGE) != 0)
        die(1, "no memory for the register page: %s", std::strerror(errno));
    page_ = static_cast<toe_regs_t *>(
        mmap(nullptr, TOEDEV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd_, 0));
    if (page_ == MAP_FAILED)
        die(1, "the register page: %s", std::strerror(errno));
    /* Recipients may only read it. */
    if (fcntl(page_fd_, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
        die(1, "the register page is not sealed: %s", std::strerror(errno));
    refresh_page();
}

/* Copies page 0 over the bus. Write-only registers such as secrets read as 0. */
void Hosts::refresh_page()
{
    auto *words = reinterpret_cast<uint32_t *>(page_);
    uint64_t quiet = card_->quiet();
    uint32_t end =
        TOE_AT(COUNTERS) + static_cast<uint32_t>(sizeof toe_counters / sizeof toe_counters[0]) * 8;

    for (uint32_t at = 0; at < end; at += 4) {
        uint32_t value = 0;

        (void)card_->read(at, value);
        words[at / 4] = value;
    }
    card_->rest(quiet); /* these reads are no activity */
}

/* ---- statistics, in toed's format ---- */

/* {group: {name: {unit, help}}} of what statistics() contains. */
std::string Hosts::help()
{
    std::string counters, text = "{\"netio\":{";
    auto add = [](std::string &to, const char *name, const char *unit, const char *what) {
        to += std::string(to.empty() || to.back() == '{' ? "" : ",") + "\"" + name +
              "\":{\"unit\":\"" + unit + "\",\"help\":\"" + what + "\"}";
    };

    add(text, "rx_frames", "", "frames received from the link");
    add(text, "rx_bytes", "bytes", "... their bytes");
    add(text, "tx_frames", "", "frames sent to the link");
    add(text, "tx_bytes", "bytes", "... their bytes");
    for (size_t i = 0; i < sizeof toe_counters / sizeof toe_counters[0]; i++)
        add(counters, toe_counters[i], "", toe_counter_help[i]);
    add(counters, "strayed", "", "accesses of the TOE outside of its hosts' memory");
    add(counters, "unlawful", "", "breaches of the AXI protocol by the TOE");
    text += "},\"usage\":{";
    add(text, "flows", "", "connections that exist");
    add(text, "listeners", "", "listeners");
    return text + "},\"counters\":{" + counters + "}}";
}

std::string Hosts::statistics()
{
    constexpr size_t kCounters = sizeof toe_counters / sizeof toe_counters[0];
    char text[512];
    std::string json;
    const uint64_t *count = page_->COUNTERS;
    uint64_t in = 0, out = 0;

    refresh_page();
    for (size_t i = 0; i < kCounters; i++) {
        in = std::strcmp(toe_counters[i], "packet_in") ? in : count[i];
        out = std::strcmp(toe_counters[i], "packet_out") ? out : count[i];
    }
    std::snprintf(
        text, sizeof text,
        "{\"version\":\"%.8s\",\"uptime_s\":%" PRIu64 ",\"address\":\"%u.%u.%u.%u/%u\","
        "\"engine\":\"" TOE_ENGINE ", simulated\",\"cycles\":%" PRIu64 ",\"engines\":[{\"id\":0,"
        "\"netio\":{\"rx_frames\":%" PRIu64 ",\"rx_bytes\":%" PRIu64 ",\"tx_frames\":%" PRIu64
        ",\"tx_bytes\":%" PRIu64 "},\"counters\":{",
        reinterpret_cast<const char *>(&page_->BUILD_ID), (now_ns() - started_) / 1000000000u,
        options_.ip[0], options_.ip[1], options_.ip[2], options_.ip[3], options_.prefix,
        card_->cycles(), in, card_->bytes_in, out, card_->bytes_out);
    json = text;
    for (size_t i = 0; i < kCounters; i++) {
        std::snprintf(text, sizeof text, "\"%s\":%" PRIu64 ",", toe_counters[i], count[i]);
        json += text;
    }
    std::snprintf(text, sizeof text, "\"strayed\":%" PRIu64 ",\"unlawful\":%" PRIu64 "}",
                  card_->strayed, card_->unlawful);
    json += text;

    uint64_t used = 0, listeners = 0;
    std::string pairs;

    for (unsigned q = 0; q < kQps; q++) {
        const QueuePair &p = qps_[q];

        if (p.life == Life::kFree)
            continue;
        uint32_t s = state(*card_, q);
        uint32_t u = s >> TOE_REGS__QP_STATE__USED_bp;
        uint32_t l = (s & TOE_REGS__QP_STATE__LISTENERS_bm) >> TOE_REGS__QP_STATE__LISTENERS_bp;

        used += u;
        listeners += l;
        std::snprintf(text, sizeof text,
                      "%s{\"id\":%u,\"pid\":%d,\"name\":\"%s\",\"slots\":%u,\"slots_used\":%u,"
                      "\"listeners\":%u,\"sw_commands\":%u,\"hw_commands\":%u,\"halted\":%u}",
                      pairs.empty() ? "" : ",", q, static_cast<int>(p.pid), p.name.c_str(), p.slots,
                      u, l, __atomic_load_n(&p.status()->sw_tail, __ATOMIC_RELAXED),
                      __atomic_load_n(&p.status()->hw_head, __ATOMIC_RELAXED),
                      __atomic_load_n(&p.status()->halted, __ATOMIC_RELAXED));
        pairs += text;
    }
    std::snprintf(text, sizeof text,
                  ",\"usage\":{\"flows\":%" PRIu64 ",\"listeners\":%" PRIu64 "},\"queue_pairs\":[",
                  used, listeners);
    return json + text + pairs + "]}]}";
}

} // namespace sim
