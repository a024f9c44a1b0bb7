/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <toe/number.h>

namespace sim
{

namespace
{

constexpr uint64_t kPage = 65536; /* a multiple of every page size in use */
constexpr uint32_t kSnaplenMin = 64;
/* Reasons of the receive unit to drop a frame, by the numbers of toe_verdict.sv from 1 on: the
 * counter, and its meaning for one frame. The hybrid TOE counts drops only. */
#if TOE_HYBRID
constexpr uint32_t kReasons = 0;
constexpr toecap_reason kReason[1] = {};
#else
constexpr uint32_t kReasons = 6;
constexpr toecap_reason kReason[kReasons] = {
    {"no_buffer", "no packet buffer is free, or the TOE is behind"},
    {"too_long", "longer than a packet buffer"},
    {"not_ours", "another MAC address, protocol or destination"},
    {"bad_header", "a fragment, or invalid lengths, version, options or source"},
    {"bad_ip_sum", "IPv4 header checksum wrong"},
    {"bad_tcp_sum", "TCP checksum wrong"},
};
#endif
constexpr uint32_t kReasonsAt = 256;
constexpr const char *kWrong =
    "such a capture is not possible; use toehold and the simulation of one release";
constexpr const char *kNoMemory = "no memory for a capture; a smaller --buffer-mib needs less";

/* Parses "SNAPLEN MIB". */
bool parse(const std::string &text, uint32_t &snaplen, uint32_t &mib)
{
    size_t blank = text.find(' ');
    uint64_t a, b;

    if (blank == std::string::npos ||
        !toe_number(text.substr(0, blank).c_str(), kSnaplenMin, TOECAP_SNAPLEN_MAX, &a, nullptr,
                    0) ||
        !toe_number(text.c_str() + blank + 1, 1, TOECAP_MIB_MAX, &b, nullptr, 0) ||
        (b & (b - 1)) != 0)
        return false;
    snaplen = static_cast<uint32_t>(a);
    mib = static_cast<uint32_t>(b);
    return true;
}

uint8_t *map_twice(int fd, uint64_t at, uint64_t size)
{
    const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
    void *p = mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return nullptr;
    auto *first = static_cast<uint8_t *>(p);
    if (mmap(first, size, prot, flags, fd, static_cast<off_t>(at)) != MAP_FAILED &&
        mmap(first + size, size, prot, flags, fd, static_cast<off_t>(at)) != MAP_FAILED)
        return first;
    munmap(p, 2 * size);
    return nullptr;
}

/* Makes a memfd whose pages exist: a write to a missing one would end the simulation by SIGBUS. */
int make_file(uint64_t size)
{
    int fd = memfd_create("toehold-capture", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0 &&
        fallocate(fd, 0, 0, static_cast<off_t>(size)) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

} // namespace

Capture::~Capture()
{
    end();
}

/* Makes and maps the memory. layout_.snaplen is set. */
const char *Capture::make(const About &about, uint32_t mib, uint64_t now_ns, int *memory)
{
    struct timespec t;
    void *p;

    layout_.magic = TOECAP_MAGIC;
    layout_.version = TOECAP_VERSION;
    layout_.engines = 1;
    layout_.reasons = kReasons;
    layout_.reasons_at = kReasonsAt;
    layout_.rings_at = kReasonsAt + kReasons * sizeof(toecap_reason);
    layout_.data_at = kPage;
    layout_.ring_size = uint64_t{mib} << 20;
    clock_gettime(CLOCK_REALTIME, &t);
    layout_.epoch_ns = t.tv_sec * INT64_C(1000000000) + t.tv_nsec - static_cast<int64_t>(now_ns);
    std::memcpy(layout_.mac, about.mac, sizeof layout_.mac);
    std::snprintf(layout_.toe, sizeof layout_.toe, "%s", about.toe.c_str());
    std::snprintf(layout_.netif, sizeof layout_.netif, "%s", about.netif.c_str());
    *memory = make_file(layout_.data_at + layout_.ring_size);
    if (*memory < 0)
        return kNoMemory;
    p = mmap(nullptr, layout_.data_at, PROT_READ | PROT_WRITE, MAP_SHARED, *memory, 0);
    if (p == MAP_FAILED)
        return kNoMemory;
    header_ = static_cast<toecap_header *>(p);
    *header_ = layout_;
    std::memcpy(static_cast<uint8_t *>(p) + kReasonsAt, kReason, kReasons * sizeof(toecap_reason));
    ring_ = reinterpret_cast<toecap_ring *>(static_cast<uint8_t *>(p) + layout_.rings_at);
    data_ = map_twice(*memory, layout_.data_at, layout_.ring_size);
    return data_ ? nullptr : kNoMemory;
}

const char *Capture::begin(int fd, const About &about, const std::string &request, uint64_t now_ns,
                           int *memory)
{
    static char taken[96];
    struct ucred peer = {};
    socklen_t size = sizeof peer;
    uint32_t mib;
    const char *wrong;

    if (fd_ >= 0) {
        std::snprintf(taken, sizeof taken, "pid %d is capturing already; end it first", pid_);
        return taken;
    }
    layout_ = {};
    *memory = -1;
    if (!parse(request, layout_.snaplen, mib))
        return kWrong;
    wrong = make(about, mib, now_ns, memory);
    if (wrong) {
        if (*memory >= 0)
            close(*memory);
        end();
        return wrong;
    }
    head_ = lost_ = 0;
    fd_ = fd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        pid_ = peer.pid;
    return nullptr;
}

void Capture::end()
{
    if (data_)
        munmap(data_, 2 * layout_.ring_size);
    if (header_)
        munmap(header_, layout_.data_at);
    if (fd_ >= 0)
        close(fd_);
    data_ = nullptr;
    header_ = nullptr;
    ring_ = nullptr;
    fd_ = -1;
}

void Capture::frame(const Frame &f, bool out, uint64_t now_ns, uint64_t cycle, unsigned reason)
{
    uint64_t used = head_ - __atomic_load_n(&ring_->tail, __ATOMIC_ACQUIRE);
    toecap_record r = {};

    r.len = static_cast<uint32_t>(f.size());
    r.cap = std::min(r.len, layout_.snaplen);
    r.size = (static_cast<uint32_t>(sizeof r) + r.cap + 7) & ~uint32_t{7};
    r.flags = out ? TOECAP_OUT : 0;
    r.time_ns = now_ns;
    r.cycle = cycle;
    r.reason = static_cast<uint16_t>(reason);
    r.qp = r.slot = TOECAP_NONE;
    /* a tail that is ahead makes `used` large: the tool harms only itself */
    if (used > layout_.ring_size || layout_.ring_size - used < r.size) {
        __atomic_store_n(&ring_->lost, ++lost_, __ATOMIC_RELAXED);
        return;
    }
    uint8_t *at = data_ + (head_ & (layout_.ring_size - 1));
    std::memcpy(at, &r, sizeof r);
    std::memcpy(at + sizeof r, f.data(), r.cap);
    head_ += r.size;
    __atomic_store_n(&ring_->head, head_, __ATOMIC_RELEASE);
}

} // namespace sim
