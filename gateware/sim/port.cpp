// SPDX-License-Identifier: Apache-2.0
#include "port.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
#include <toe/netio.h>
}

namespace sim
{
namespace
{

[[noreturn]] void die(const std::string &spec, const std::string &why)
{
    std::fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, spec.c_str(), why.c_str());
    std::exit(1);
}

class NetioPort : public Port
{
  public:
    explicit NetioPort(const std::string &spec)
    {
        struct netio_config config = {};
        char why[256] = "";

        n_ = netio_open(spec.c_str(), &config, why, sizeof why);
        if (!n_)
            die(spec, why);
    }
    ~NetioPort() override
    {
        netio_close(n_);
    }
    NetioPort(const NetioPort &) = delete;
    NetioPort &operator=(const NetioPort &) = delete;

    bool receive(Frame &frame, uint64_t now_ns) override
    {
        struct netio_frame f;

        if (netio_rx(n_, &f, 1, now_ns) == 0)
            return false;
        frame.assign(f.data, f.data + f.len);
        netio_rx_release(n_, &f, 1);
        return true;
    }

    bool send(const Frame &frame, uint64_t now_ns) override
    {
        struct netio_frame f;

        if (netio_tx_alloc(n_, &f) != 0)
            return false;
        if (frame.size() > f.cap) {
            netio_tx_cancel(n_, &f);
            return false;
        }
        std::memcpy(f.data, frame.data(), frame.size());
        f.len = static_cast<uint32_t>(frame.size());
        f.flags = 0;
        netio_tx_submit(n_, &f, now_ns);
        netio_tx_flush(n_, now_ns);
        return true;
    }

    int fd() const override
    {
        return netio_fd(n_);
    }
    bool awake() override
    {
        return netio_prepare_sleep(n_) != 0;
    }

  private:
    struct netio *n_;
};

class PacketPort : public Port
{
  public:
    explicit PacketPort(const std::string &name)
    {
        struct sockaddr_ll to = {};
        int on = 1;

        to.sll_family = AF_PACKET;
        to.sll_protocol = htons(ETH_P_ALL);
        to.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
        if (to.sll_ifindex == 0)
            die("packet:" + name, "there is no such interface");
        fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd_ < 0 || setsockopt(fd_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
            bind(fd_, reinterpret_cast<struct sockaddr *>(&to), sizeof to) != 0)
            die("packet:" + name, std::strerror(errno));
    }
    ~PacketPort() override
    {
        close(fd_);
    }
    PacketPort(const PacketPort &) = delete;
    PacketPort &operator=(const PacketPort &) = delete;

    bool receive(Frame &frame, uint64_t) override
    {
        frame.resize(65536);
        ssize_t n = recv(fd_, frame.data(), frame.size(), 0);
        frame.resize(n > 0 ? static_cast<size_t>(n) : 0);
        return n > 0;
    }

    bool send(const Frame &frame, uint64_t) override
    {
        return ::send(fd_, frame.data(), frame.size(), 0) >= 0;
    }

    int fd() const override
    {
        return fd_;
    }
    bool awake() override
    {
        return false;
    }

  private:
    int fd_;
};

} // namespace

std::unique_ptr<Port> open_port(const std::string &spec)
{
    const std::string packet = "packet:";

    if (spec.compare(0, packet.size(), packet) == 0)
        return std::make_unique<PacketPort>(spec.substr(packet.size()));
    return std::make_unique<NetioPort>(spec);
}

} // namespace sim
