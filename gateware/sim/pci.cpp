// SPDX-License-Identifier: Apache-2.0
// pci.cpp - the remote end of QEMU's x-pci-proxy-dev (pci.h). A message is a command (32 bits, and
// 32 of padding), the length of the payload (64 bits), and the payload. The byte order is the
// machine's, as both ends run on one machine. Reads and writes are answered by kReturn and a value.
#include "pci.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"

namespace sim
{

namespace
{

enum Command : uint32_t {
    kMemory, // the guest's memory, for devices with DMA; not answered
    kReturn,
    kConfigWrite,
    kConfigRead,
    kBarWrite,
    kBarRead,
    kInterrupts, // descriptors for interrupts; this function has none; not answered
    kReset,
};

struct Head {
    uint32_t command, padding;
    uint64_t size;
};

struct ConfigAccess {
    uint32_t at, value;
    int32_t length;
};

struct BarAccess {
    uint64_t at, value; // `at`: a guest-physical address
    uint32_t size;
    bool memory;
};

constexpr size_t kMost = 4096; // the longest message
constexpr uint32_t kBarSize = 4u << 20, kBox = 0x100000;
constexpr uint32_t kBar2 = 0x18; // offset in configuration space

} // namespace

PciFunction::PciFunction(const std::string &path, uint32_t size, Read read, Write write)
    : path_(path), size_(size), read_(std::move(read)), write_(std::move(write))
{
    if (!path.empty())
        listen_ = listen_at("--pci", path);
    reset();
}

PciFunction::~PciFunction()
{
    if (peer_ >= 0)
        close(peer_);
    if (listen_ >= 0) {
        close(listen_);
        remove_socket(path_);
    }
}

void PciFunction::reset()
{
    static const uint8_t head[] = {
        0xee, 0x10, 0x3f, 0x90, // vendor, device
        0,    0,    0,    0,    // command, status: no capabilities
        0,    0,    0x80, 5,    // class: memory, other
    };

    config_.fill(0);
    std::memcpy(config_.data(), head, sizeof head);
}

void PciFunction::add_to(std::vector<struct pollfd> &fds) const
{
    for (int fd : {listen_, peer_})
        if (fd >= 0)
            fds.push_back({fd, POLLIN, 0});
}

void PciFunction::serve()
{
    if (listen_ < 0)
        return;
    if (peer_ < 0) {
        peer_ = accept4(listen_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        in_.clear();
    }
    if (peer_ >= 0 && !take()) {
        close(peer_);
        peer_ = -1;
        reset();
    }
}

// Reads, and handles all complete messages. Returns false when the guest has disconnected or
// violates the protocol.
bool PciFunction::take()
{
    uint8_t data[kMost];
    union {
        struct cmsghdr align;
        uint8_t room[CMSG_SPACE(64 * sizeof(int))];
    } control;
    struct iovec iov = {data, sizeof data};
    struct msghdr msg = {};
    Head head;

    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control.room;
    msg.msg_controllen = sizeof control.room;
    ssize_t n = recvmsg(peer_, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    // Close the descriptors of the guest's memory and interrupts; they are not used.
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
            int fd;

            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            close(fd);
        }
    }
    in_.insert(in_.end(), data, data + n);
    while (in_.size() >= sizeof head) {
        std::memcpy(&head, in_.data(), sizeof head);
        if (head.size > kMost)
            return false;
        if (in_.size() < sizeof head + head.size)
            break;
        if (!handle(head.command, in_.data() + sizeof head, head.size))
            return false;
        in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(sizeof head + head.size));
    }
    return n > 0;
}

bool PciFunction::handle(uint32_t command, const uint8_t *data, size_t size)
{
    ConfigAccess c = {};
    BarAccess b = {};

    if (command == kConfigRead || command == kConfigWrite) {
        if (size != sizeof c)
            return false;
        std::memcpy(&c, data, sizeof c);
    } else if (command == kBarRead || command == kBarWrite) {
        if (size != sizeof b)
            return false;
        std::memcpy(&b, data, sizeof b);
    }
    auto length = static_cast<uint32_t>(c.length);
    switch (command) {
    case kMemory:
    case kInterrupts:
        return true;
    case kConfigRead:
        return reply(true, config_read(c.at, length));
    case kConfigWrite:
        config_write(c.at, c.value, length);
        return reply(true, 0);
    case kBarRead:
        return reply(true, b.memory ? bar_read(b.at, b.size) : ~uint64_t{0});
    case kBarWrite:
        if (b.memory)
            bar_write(b.at, b.size, b.value);
        return reply(true, 0);
    case kReset:
        reset();
        return reply(false, 0);
    default:
        std::fprintf(stderr, "rtt_sim: --pci: QEMU asks %u, which is not known here\n", command);
        return false;
    }
}

bool PciFunction::reply(bool with_value, uint64_t value)
{
    struct {
        Head head;
        uint64_t value;
    } m = {{kReturn, 0, with_value ? sizeof value : 0}, value};
    size_t size = sizeof m.head + m.head.size;

    return send(peer_, &m, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

uint32_t PciFunction::config_read(uint32_t at, uint32_t length) const
{
    uint32_t v = 0;

    if (length > 4 || at > config_.size() - length)
        return ~0u;
    std::memcpy(&v, &config_[at], length);
    return v;
}

// Writes the writable bits: memory space and bus master enable, and the upper bits of BAR 2.
void PciFunction::config_write(uint32_t at, uint32_t value, uint32_t length)
{
    for (uint32_t i = 0; i < length && i < 4; i++) {
        uint32_t byte = at + i, mask = 0;

        if (byte == 4)
            mask = 0x06;
        else if (byte >= kBar2 && byte < kBar2 + 4)
            mask = ~(kBarSize - 1) >> 8 * (byte - kBar2) & 0xff;
        if (mask != 0)
            config_[byte] = static_cast<uint8_t>((config_[byte] & ~mask) | (value >> 8 * i & mask));
    }
}

bool PciFunction::in_window(uint64_t at, uint32_t size, uint32_t &offset) const
{
    uint64_t from = at - (config_read(kBar2, 4) & ~15u) - kBox;

    offset = static_cast<uint32_t>(from);
    return from < size_ && size <= 8 && from % size == 0;
}

uint64_t PciFunction::bar_read(uint64_t at, uint32_t size)
{
    uint64_t value = 0;
    uint32_t offset, word;

    if (size == 0 || !in_window(at, size, offset))
        return ~uint64_t{0};
    for (uint32_t i = 0; i < size; i += 4) {
        if (read_((offset & ~3u) + i, word) != 0)
            word = ~0u;
        value |= static_cast<uint64_t>(word) << 8 * i;
    }
    return value >> 8 * (offset & 3);
}

// Writes a whole register; drops and logs partial writes.
void PciFunction::bar_write(uint64_t at, uint32_t size, uint64_t value)
{
    uint32_t offset;

    if (size == 0 || !in_window(at, size, offset))
        return;
    if (size < 4)
        std::fprintf(stderr, "rtt_sim: --pci: a write of %u bytes to 0x%x: registers have 4\n",
                     size, offset);
    for (uint32_t i = 0; i < size && size >= 4; i += 4)
        write_(offset + i, static_cast<uint32_t>(value >> 8 * i));
}

} // namespace sim
