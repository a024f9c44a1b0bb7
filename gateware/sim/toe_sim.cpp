/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_sim.cpp - the gateware TOE as a process: speaks the device contract on the same socket as
 * toed (toe/attach.h), so that libtoe and every tool find it where toed would be. Packets come from
 * a port (port.h); host memory is the memory that hosts pass; the doorbell pages that they write
 * are what a card's registers would be.
 */
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <getopt.h>
#include <memory>
#include <poll.h>
#include <random>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <arpa/inet.h>

#include "Vtoe_top.h"
#include "port.h"

#define _Alignas alignas
#define _Alignof alignof
#define _Static_assert static_assert
extern "C" {
#include <toe/attach.h>
#include <toe/device.h>
#include <toe/regs.h>
}

namespace
{

constexpr unsigned kQps = 8;
constexpr unsigned kAreaShift = 40; /* DMA address: queue pair + 1, then the offset in its area */
constexpr unsigned kBurst = 64;     /* cycles between looks at the world */

volatile sig_atomic_t stop_asked;

struct Options {
    std::string port, socket = TOEDEV_DEFAULT_SOCKET;
    uint8_t ip[4] = {}, gateway[4] = {}, mac[6] = {2, 0x54, 0x4f, 0x45, 0, 1};
    unsigned prefix = 24, mtu = 1500;
    uint64_t seed = 0;
};

[[noreturn]] void die(int code, const char *format, ...)
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

unsigned log2_of(uint32_t power)
{
    return static_cast<unsigned>(__builtin_ctz(power));
}

/* ---- a queue pair and the host that it is of ---- */

enum class Life { kFree, kAttaching, kLive, kDetaching };

struct QueuePair {
    Life life = Life::kFree;
    int control = -1, irq = -1, doorbell = -1;
    toedev_qp_config config = {};
    struct toedev_layout layout = {};
    uint8_t *area = nullptr;
    uint16_t first = 0;
    uint32_t slots = 0; /* of the flows, while it has any */
    toedev_doorbells seen = {};

    toedev_doorbells *bells() const
    {
        return reinterpret_cast<toedev_doorbells *>(area + layout.doorbells);
    }
    toedev_status *status() const
    {
        return reinterpret_cast<toedev_status *>(area + layout.status);
    }
};

class Simulation
{
  public:
    explicit Simulation(const Options &o) : options_(o), port_(sim::open_port(o.port))
    {
        listen_on(o.socket);
        make_registers();
        std::random_device device;
        std::mt19937_64 random(o.seed ? o.seed : (uint64_t{device()} << 32 | device()));

        top_.rst_ni = 0;
        top_.mac_i = 0;
        for (uint8_t octet : o.mac)
            top_.mac_i = top_.mac_i << 8 | octet;
        top_.ip4_i = number(o.ip);
        top_.ip4_gateway_i = number(o.gateway);
        top_.ip4_prefix_i = static_cast<uint8_t>(o.prefix);
        top_.mtu_i = static_cast<uint16_t>(o.mtu);
        for (unsigned i = 0; i < 4; i++)
            top_.secret_i[i] = static_cast<uint32_t>(random());
        for (unsigned i = 0; i < 12; i++)
            top_.hash_key_i[i] = static_cast<uint32_t>(random());
        top_.m_tready_i = 1;
        top_.cmd_ar_ready_i = top_.tx_ar_ready_i = top_.aw_ready_i = top_.w_ready_i = 1;
        for (unsigned i = 0; i < 8; i++)
            cycle();
        top_.rst_ni = 1;
        while (!top_.ready_o)
            cycle();
        for (unsigned i = 0; i < top_.flows_o; i++)
            cycle(); /* the timers' memory */
        flows_ = top_.flows_o;
    }

    void run()
    {
        std::printf("toe_sim: ready on %s, %u flows\n", options_.socket.c_str(), flows_);
        std::fflush(stdout);
        while (!stop_asked) {
            look();
            for (unsigned i = 0; i < kBurst; i++)
                cycle();
            if (quiet_ > 2 * flows_ + 4096)
                sleep();
        }
        unlink(options_.socket.c_str());
        report();
    }

  private:
    static uint32_t number(const uint8_t *b)
    {
        return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
    }

    /* ---- the clock ---- */

    void cycle()
    {
        drive_packet();
        drive_reads();
        top_.eval();
        bool sends = top_.m_tvalid_o && top_.m_tready_i;
        bool busy = top_.s_tvalid_i || sends || top_.cmd_ar_valid_o || top_.tx_ar_valid_o ||
                    top_.aw_valid_o || top_.w_valid_o || top_.irq_o;

        if (sends)
            take_beat();
        take_reads();
        take_writes();
        take_interrupts();
        top_.clk_i = 1;
        top_.eval();
        top_.clk_i = 0;
        top_.eval();
        top_.qp_write_i = 0;
        top_.bell_write_i = 0;
        cycles_++;
        quiet_ = busy ? 0 : quiet_ + 1;
    }

    /* ---- packets ---- */

    void drive_packet()
    {
        top_.s_tvalid_i = !in_.empty();
        if (in_.empty())
            return;
        sim::Frame &f = in_.front();
        size_t left = f.size() - in_at_, n = left < 64 ? left : 64;

        std::memset(&top_.s_tdata_i[0], 0, 64);
        std::memcpy(&top_.s_tdata_i[0], f.data() + in_at_, n);
        top_.s_tkeep_i = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
        top_.s_tlast_i = n == left;
        in_at_ += n;
        if (n == left) {
            in_.pop_front();
            in_at_ = 0;
        }
    }

    void take_beat()
    {
        size_t n = top_.m_tkeep_o == ~uint64_t{0}
                       ? 64
                       : static_cast<size_t>(__builtin_ctzll(~top_.m_tkeep_o));
        const uint8_t *data = reinterpret_cast<const uint8_t *>(&top_.m_tdata_o[0]);

        out_.insert(out_.end(), data, data + n);
        if (top_.m_tlast_o) {
            if (out_.size() < 60)
                out_.resize(60);
            port_->send(out_, time_);
            out_.clear();
        }
    }

    /* ---- host memory ---- */

    /* Where it lies; null: nobody has given it. */
    uint8_t *memory(uint64_t address, uint64_t n)
    {
        uint64_t q = (address >> kAreaShift) - 1;
        uint64_t offset = address & ((uint64_t{1} << kAreaShift) - 1);

        if (q < kQps && qps_[q].area && offset + n <= qps_[q].layout.total)
            return qps_[q].area + offset;
        if (!strayed_++)
            std::fprintf(stderr,
                         "toe_sim: the TOE reached for host memory that is not there: %llx\n",
                         static_cast<unsigned long long>(address));
        return nullptr;
    }

    void read_into(uint64_t address, VlWide<16> &data)
    {
        const uint8_t *from = memory(address, 64);

        if (from)
            std::memcpy(&data[0], from, 64);
        else
            std::memset(&data[0], 0, 64);
    }

    /* Answers come a cycle after they were asked for. */
    void drive_reads()
    {
        top_.cmd_r_valid_i = cmd_asked_;
        if (cmd_asked_)
            read_into(cmd_address_, top_.cmd_r_data_i);
        cmd_asked_ = false;
        top_.tx_r_valid_i = !tx_reads_.empty();
        if (!tx_reads_.empty())
            read_into(tx_reads_.front(), top_.tx_r_data_i);
    }

    void take_reads()
    {
        if (top_.cmd_ar_valid_o) {
            cmd_asked_ = true;
            cmd_address_ = top_.cmd_ar_addr_o;
        }
        if (top_.tx_r_valid_i && top_.tx_r_ready_o)
            tx_reads_.pop_front();
        if (top_.tx_ar_valid_o)
            for (unsigned i = 0; i <= top_.tx_ar_len_o; i++)
                tx_reads_.push_back(top_.tx_ar_addr_o + 64 * i);
    }

    void take_writes()
    {
        if (top_.aw_valid_o)
            write_at_ = top_.aw_addr_o;
        if (!top_.w_valid_o)
            return;
        uint8_t *to = memory(write_at_, 64);
        const uint64_t *data = reinterpret_cast<const uint64_t *>(&top_.w_data_o[0]);
        const uint8_t *bytes = reinterpret_cast<const uint8_t *>(data);

        write_at_ += 64;
        if (!to)
            return;
        /* From above: a command's first word, with the phase, is stored last (ring.h). */
        for (int i = 7; i >= 0; i--) {
            unsigned strobe = top_.w_strb_o >> (8 * i) & 255;

            if (strobe == 255) {
                __atomic_store_n(reinterpret_cast<uint64_t *>(to) + i, data[i], __ATOMIC_RELEASE);
            } else if (strobe == 15 || strobe == 240) {
                unsigned word = 2u * static_cast<unsigned>(i) + (strobe == 240);

                __atomic_store_n(reinterpret_cast<uint32_t *>(to) + word, top_.w_data_o[word],
                                 __ATOMIC_RELEASE);
            } else {
                for (unsigned j = 0; j < 8; j++)
                    if (strobe >> j & 1)
                        to[8 * i + j] = bytes[8 * i + j];
            }
        }
    }

    void take_interrupts()
    {
        for (unsigned q = 0; top_.irq_o && q < kQps; q++) {
            uint64_t one = 1;

            if ((top_.irq_o >> q & 1) && qps_[q].irq >= 0)
                (void)!write(qps_[q].irq, &one, sizeof one);
        }
    }

    /* ---- the world ---- */

    void look()
    {
        sim::Frame frame;

        time_ = now_ns();
        top_.now_i = time_;
        while (in_.size() < 64 && port_->receive(frame, time_)) {
            in_.push_back(frame);
            quiet_ = 0;
        }
        for (unsigned q = 0; q < kQps; q++)
            if (qps_[q].life == Life::kLive)
                look_at_bells(q);
        if (++looks_ % 16 == 0)
            serve();
    }

    void look_at_bells(unsigned q)
    {
        QueuePair &p = qps_[q];
        const toedev_doorbells *b = p.bells();
        toedev_doorbells now = {};

        now.irq_count = __atomic_load_n(&b->irq_count, __ATOMIC_RELAXED);
        now.irq_usec = __atomic_load_n(&b->irq_usec, __ATOMIC_RELAXED);
        now.irq_arm = __atomic_load_n(&b->irq_arm, __ATOMIC_RELAXED);
        now.irq_seq = __atomic_load_n(&b->irq_seq, __ATOMIC_ACQUIRE);
        now.hw_tail = __atomic_load_n(&b->hw_tail, __ATOMIC_ACQUIRE);
        now.sw_head = __atomic_load_n(&b->sw_head, __ATOMIC_ACQUIRE);
        if (now.irq_count == p.seen.irq_count && now.irq_usec == p.seen.irq_usec &&
            now.irq_arm == p.seen.irq_arm && now.irq_seq == p.seen.irq_seq &&
            now.hw_tail == p.seen.hw_tail && now.sw_head == p.seen.sw_head)
            return;
        p.seen = now;
        quiet_ = 0;
        top_.bell_write_i = 1;
        top_.bell_qp_i = static_cast<uint8_t>(q);
        top_.bell_sw_head_i = now.sw_head;
        top_.bell_hw_tail_i = now.hw_tail;
        top_.bell_arm_i = now.irq_arm;
        top_.bell_seq_i = now.irq_seq;
        top_.bell_count_i = now.irq_count;
        top_.bell_usec_i = now.irq_usec;
        cycle();
    }

    /* Until something happens, or a timer may be due. */
    void sleep()
    {
        std::vector<struct pollfd> fds;

        for (QueuePair &p : qps_)
            if (p.life == Life::kLive)
                __atomic_store_n(&p.status()->sleeping, 1u, __ATOMIC_SEQ_CST);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        quiet_ = 1;
        for (unsigned q = 0; q < kQps; q++)
            if (qps_[q].life == Life::kLive)
                look_at_bells(q);
        if (quiet_ && !port_->awake()) {
            fds.push_back({listener_, POLLIN, 0});
            fds.push_back({port_->fd(), POLLIN, 0});
            for (QueuePair &p : qps_) {
                if (p.control >= 0)
                    fds.push_back({p.control, POLLIN, 0});
                if (p.doorbell >= 0)
                    fds.push_back({p.doorbell, POLLIN, 0});
            }
            poll(fds.data(), fds.size(), 5);
        }
        for (QueuePair &p : qps_) {
            uint64_t count;

            if (p.life != Life::kLive)
                continue;
            __atomic_store_n(&p.status()->sleeping, 0u, __ATOMIC_RELAXED);
            (void)!read(p.doorbell, &count, sizeof count);
        }
        serve();
        quiet_ = 4096; /* time enough for a scan of the timers */
    }

    /* ---- hosts ---- */

    void listen_on(const std::string &path)
    {
        struct sockaddr_un at = {};

        if (path.size() >= sizeof at.sun_path)
            die(2, "%s: the path is too long for a socket", path.c_str());
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path, path.c_str(), path.size());
        unlink(path.c_str());
        listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (listener_ < 0 ||
            bind(listener_, reinterpret_cast<struct sockaddr *>(&at), sizeof at) != 0 ||
            listen(listener_, 64) != 0)
            die(1, "%s: %s", path.c_str(), std::strerror(errno));
    }

    void make_registers()
    {
        toe_regs_t *r;

        registers_ = memfd_create("toe registers", MFD_CLOEXEC);
        if (registers_ < 0 || ftruncate(registers_, TOEDEV_PAGE) != 0)
            die(1, "no memory for the register page: %s", std::strerror(errno));
        r = static_cast<toe_regs_t *>(
            mmap(nullptr, TOEDEV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, registers_, 0));
        if (r == MAP_FAILED)
            die(1, "the register page: %s", std::strerror(errno));
        r->ID = TOEDEV_MAGIC;
        r->CONTRACT = TOEDEV_CONTRACT_VERSION;
        r->FEATURES = TOE_REGS__FEATURES__SACK_bm | TOE_REGS__FEATURES__TIMESTAMPS_bm |
                      TOE_REGS__FEATURES__MODERATION_bm;
        r->QUEUE_PAIRS = kQps;
        r->BUFFER_MIN = 4096;
        r->BUFFER_MAX = 1u << 20;
        r->TICK_HZ = 1000000000;
        r->MTU = options_.mtu;
        r->IPV4 = number(options_.ip);
        r->IPV4_PREFIX = options_.prefix;
        r->IPV4_GATEWAY = number(options_.gateway);
        munmap(r, TOEDEV_PAGE);
    }

    void serve()
    {
        int fd;

        while ((fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
            greeting_.push_back(fd);
        for (size_t i = 0; i < greeting_.size();) {
            if (greet(greeting_[i]))
                greeting_.erase(greeting_.begin() + static_cast<long>(i));
            else
                i++;
        }
        for (unsigned q = 0; q < kQps; q++)
            tend(q);
    }

    /* 1 when nothing more is expected of this connection here. */
    int greet(int fd)
    {
        toedev_hello hello = {};
        struct iovec part = {&hello, sizeof hello};
        alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
        struct msghdr message = {};
        int fds[4], count = 0;
        ssize_t n;

        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EAGAIN)
            return 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); n > 0 && c; c = CMSG_NXTHDR(&message, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
                count = static_cast<int>((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
                std::memcpy(fds, CMSG_DATA(c), static_cast<size_t>(count) * sizeof(int));
            }
        const char *wrong = n == sizeof hello ? attach(fd, hello, fds, count) : "no hello";

        if (wrong) {
            if (n > 0)
                refuse(fd, wrong);
            for (int i = 0; i < count; i++)
                close(fds[i]);
            close(fd);
        }
        return 1;
    }

    void refuse(int fd, const char *why)
    {
        toedev_welcome w = {};

        w.magic = TOEDEV_MAGIC;
        w.version = TOEDEV_CONTRACT_VERSION;
        w.reason = TOE_R_INVAL;
        std::snprintf(w.message, sizeof w.message, "%s", why);
        (void)!send(fd, &w, sizeof w, MSG_NOSIGNAL);
    }

    /* The first of n flows that are nobody's, a multiple of n; -1: there are none. */
    int find_flows(uint32_t n) const
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

    const char *attach(int fd, const toedev_hello &hello, const int *fds, int count)
    {
        unsigned q = 0;
        struct toedev_layout layout;
        struct stat st;
        int first;
        void *area;

        if (hello.magic != TOEDEV_MAGIC || hello.version != TOEDEV_CONTRACT_VERSION)
            return "another contract than version 1";
        if (hello.kind != TOEDEV_HELLO_ATTACH)
            return "the simulated TOE gives queue pairs, and answers nothing else";
        if (hello.engine != 0)
            return "the simulated TOE has one engine";
        if (count != 2)
            return "area and interrupt are two descriptors";
        if (toedev_layout(&hello.qp, &layout) != 0)
            return "the configuration of the queue pair is out of its ranges";
        if (hello.qp.tx_size < 4096 || hello.qp.rx_size < 4096 || hello.qp.tx_size > 1u << 20 ||
            hello.qp.rx_size > 1u << 20)
            return "buffers of the gateware TOE have 4 KiB to 1 MiB (TOEHOLD_TX_SIZE, _RX_SIZE)";
        while (q < kQps && qps_[q].life != Life::kFree)
            q++;
        if (q == kQps)
            return "all queue pairs are in use";
        first = find_flows(hello.qp.slots);
        if (first < 0)
            return "not so many flows are left: ask for fewer slots (TOEHOLD_SLOTS)";
        if (fstat(fds[0], &st) != 0 || static_cast<uint64_t>(st.st_size) != layout.total)
            return "the area has not the size that its configuration gives";
        area = mmap(nullptr, layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
        if (area == MAP_FAILED)
            return "the area cannot be mapped";
        close(fds[0]);
        QueuePair &p = qps_[q];

        p.life = Life::kAttaching;
        p.control = fd;
        p.irq = fds[1];
        p.doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        p.config = hello.qp;
        p.layout = layout;
        p.area = static_cast<uint8_t *>(area);
        p.first = static_cast<uint16_t>(first);
        p.slots = hello.qp.slots;
        p.seen = {};
        configure(q, true, false);
        while (!(top_.attached_o >> q & 1))
            cycle();
        p.life = Life::kLive;
        welcome(q);
        return nullptr;
    }

    void configure(unsigned q, bool enable, bool detach)
    {
        const QueuePair &p = qps_[q];

        top_.qp_write_i = 1;
        top_.qp_i = static_cast<uint8_t>(q);
        top_.qp_enable_i = enable;
        top_.qp_detach_i = detach;
        top_.qp_area_i = uint64_t{q + 1} << kAreaShift;
        top_.qp_sw_log_i = static_cast<uint8_t>(log2_of(p.config.sw_entries));
        top_.qp_hw_log_i = static_cast<uint8_t>(log2_of(p.config.hw_entries));
        top_.qp_slots_log_i = static_cast<uint8_t>(log2_of(p.config.slots));
        top_.qp_tx_log_i = static_cast<uint8_t>(log2_of(p.config.tx_size));
        top_.qp_rx_log_i = static_cast<uint8_t>(log2_of(p.config.rx_size));
        top_.qp_addresses_i = static_cast<uint16_t>(p.config.addresses);
        top_.qp_first_i = p.first;
        top_.qp_status_at_i = static_cast<uint32_t>(p.layout.status);
        top_.qp_sw_at_i = static_cast<uint32_t>(p.layout.sw_ring);
        top_.qp_hw_at_i = static_cast<uint32_t>(p.layout.hw_ring);
        top_.qp_records_at_i = static_cast<uint32_t>(p.layout.records);
        top_.qp_addresses_at_i = static_cast<uint32_t>(p.layout.addresses);
        top_.qp_buffers_at_i = static_cast<uint32_t>(p.layout.buffers);
        cycle();
        top_.bell_write_i = 1;
        top_.bell_qp_i = static_cast<uint8_t>(q);
        top_.bell_sw_head_i = top_.bell_hw_tail_i = top_.bell_arm_i = top_.bell_seq_i = 0;
        top_.bell_count_i = top_.bell_usec_i = 0;
        if (!detach)
            cycle();
        top_.bell_write_i = 0;
    }

    void welcome(unsigned q)
    {
        QueuePair &p = qps_[q];
        toedev_welcome w = {};
        struct iovec part = {&w, sizeof w};
        alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
        struct msghdr message = {};
        int fds[2] = {registers_, p.doorbell};
        struct cmsghdr *c;

        w.magic = TOEDEV_MAGIC;
        w.version = TOEDEV_CONTRACT_VERSION;
        w.qp_id = q;
        w.engines = 1;
        w.mtu = options_.mtu;
        w.prefix_len = static_cast<uint8_t>(options_.prefix);
        std::memcpy(w.mac, options_.mac, sizeof w.mac);
        std::memcpy(w.ip, options_.ip, sizeof w.ip);
        std::memcpy(w.gateway, options_.gateway, sizeof w.gateway);
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fds);
        std::memcpy(CMSG_DATA(c), fds, sizeof fds);
        (void)!sendmsg(p.control, &message, MSG_NOSIGNAL);
    }

    /* The host's connection ends: its flows are reset, then it is forgotten. */
    void tend(unsigned q)
    {
        QueuePair &p = qps_[q];
        char byte;

        if (p.life == Life::kLive) {
            ssize_t n = recv(p.control, &byte, 1, MSG_DONTWAIT);

            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                configure(q, true, true);
                p.life = Life::kDetaching;
                quiet_ = 0;
            }
        } else if (p.life == Life::kDetaching) {
            if (!(top_.detached_o >> q & 1))
                return;
            for (unsigned i = 0; i < 1000; i++)
                cycle(); /* RSTs leave */
            configure(q, false, false);
            for (unsigned i = 0; i < 100; i++)
                cycle();
            munmap(p.area, p.layout.total);
            close(p.control);
            close(p.irq);
            close(p.doorbell);
            p = QueuePair{};
        }
    }

    void report() const
    {
        static const char *const names[] = {
            "bad_tcp_sum",  "bad_ip_sum",        "bad_header",    "not_ours",
            "too_long",     "no_buffer",         "tw_recycled",   "table_full",
            "listen_full",  "rst_nobody",        "no_flow_rst",   "given_up",
            "established",  "bad_command",       "stale_command", "gap_dropped",
            "probe",        "timeout",           "fast_recovery", "resent",
            "segment_sent", "challenge_limited", "challenge",     "rst_sent",
            "rst_received", "no_ack_bit",        "bad_ack",       "out_of_window",
            "paws",         "no_timestamp",      "no_flow"};

        std::fprintf(stderr, "toe_sim: %llu cycles, %llu strayed\n",
                     static_cast<unsigned long long>(cycles_),
                     static_cast<unsigned long long>(strayed_));
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
            if (top_.counters_o[i])
                std::fprintf(stderr, "  %s %u\n", names[i], top_.counters_o[i]);
    }

    Options options_;
    std::unique_ptr<sim::Port> port_;
    Vtoe_top top_;
    QueuePair qps_[kQps];
    std::deque<sim::Frame> in_;
    size_t in_at_ = 0;
    sim::Frame out_;
    std::deque<uint64_t> tx_reads_;
    bool cmd_asked_ = false;
    uint64_t cmd_address_ = 0, write_at_ = 0, time_ = 0, cycles_ = 0, quiet_ = 0, looks_ = 0;
    uint64_t strayed_ = 0;
    uint32_t flows_ = 0;
    int listener_ = -1, registers_ = -1;
    std::vector<int> greeting_;
};

void on_signal(int)
{
    stop_asked = 1;
}

const char kUsage[] =
    "usage: toe_sim --port SPEC --ip ADDRESS/LENGTH [OPTION...]\n"
    "The gateware TOE, simulated, where toed would be.\n"
    "  --port SPEC      tap:NAME, packet:IFNAME, wire:PATH, pcap:...; netio/README.md has them\n"
    "  --ip A/LENGTH    its IPv4 address\n"
    "  --gateway A      its router\n"
    "  --mac M          its Ethernet address\n"
    "  --mtu N          of the link, 576 to 1500 (1500)\n"
    "  --socket PATH    where hosts find it (" TOEDEV_DEFAULT_SOCKET ")\n"
    "  --seed N         of its secrets; 0: the system's random numbers\n"
    "Exit codes: 0 after SIGINT or SIGTERM, 1 failed, 2 usage.\n";

Options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"port", 1, nullptr, 'p'}, {"ip", 1, nullptr, 'i'},   {"gateway", 1, nullptr, 'g'},
        {"mac", 1, nullptr, 'm'},  {"mtu", 1, nullptr, 'u'},  {"socket", 1, nullptr, 's'},
        {"seed", 1, nullptr, 'r'}, {"help", 0, nullptr, 'h'}, {}};
    Options o;
    int c;

    while ((c = getopt_long(argc, argv, "", known, nullptr)) != -1) {
        std::string value = optarg ? optarg : "";
        size_t slash = value.find('/');
        unsigned octet[6];

        switch (c) {
        case 'p':
            o.port = value;
            break;
        case 'i':
            if (slash == std::string::npos ||
                inet_pton(AF_INET, value.substr(0, slash).c_str(), o.ip) != 1 ||
                std::sscanf(value.c_str() + slash + 1, "%u", &o.prefix) != 1 || o.prefix > 32)
                die(2, "--ip %s: an address and its prefix, as 10.0.0.1/24", value.c_str());
            break;
        case 'g':
            if (inet_pton(AF_INET, value.c_str(), o.gateway) != 1)
                die(2, "--gateway %s: no IPv4 address", value.c_str());
            break;
        case 'm':
            if (std::sscanf(value.c_str(), "%x:%x:%x:%x:%x:%x", &octet[0], &octet[1], &octet[2],
                            &octet[3], &octet[4], &octet[5]) != 6)
                die(2, "--mac %s: six octets, as 02:00:00:00:00:01", value.c_str());
            for (unsigned i = 0; i < 6; i++)
                o.mac[i] = static_cast<uint8_t>(octet[i]);
            break;
        case 'u':
            o.mtu = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
            if (o.mtu < 576 || o.mtu > 1500)
                die(2, "--mtu %s: 576 to 1500", value.c_str());
            break;
        case 's':
            o.socket = value;
            break;
        case 'r':
            o.seed = std::strtoull(value.c_str(), nullptr, 0);
            break;
        case 'h':
            std::fputs(kUsage, stdout);
            std::exit(0);
        default:
            std::fputs(kUsage, stderr);
            std::exit(2);
        }
    }
    if (o.port.empty() || o.ip[0] == 0 || optind != argc)
        die(2, "--port and --ip are needed, and nothing else than options; --help tells more");
    return o;
}

} // namespace

int main(int argc, char **argv)
{
    Options options = parse(argc, argv);

    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    Simulation(options).run();
    return 0;
}
