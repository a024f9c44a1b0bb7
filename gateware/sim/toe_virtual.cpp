/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_virtual.cpp - the gateware as the TOE of tests/virtual/ (world.h, "the TOE"): runs libtoe and
 * the scripts over it in virtual time. Linked with libtoe_virtual.a instead of soft.c.
 */
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toe_device.h"

extern "C" {
#include <toe/attach.h>
#include <toe/regs.h>

#include "world.h"
}

namespace
{

struct Host {
    int control = -1, irq = -1, doorbell = -1, registers = -1;
    uint8_t *area = nullptr;
    uint64_t size = 0;
    int qp = -1;
};

sim::ToeDevice *device;
Host host;

void send_frame(const sim::Bytes &frame)
{
    struct netio_frame f = {};

    if (netio_tx_alloc(world.wire, &f) != 0 || frame.size() > f.cap)
        return;
    std::memcpy(f.data, frame.data(), frame.size());
    f.len = static_cast<uint32_t>(frame.size());
    netio_tx_submit(world.wire, &f, world.now);
}

/* Creates the register page that programs read (toe.rdl). */
int make_registers()
{
    int fd = memfd_create("toe registers", MFD_CLOEXEC);
    toe_regs_t r = {};

    r.ID = TOEDEV_MAGIC;
    r.CONTRACT = TOEDEV_CONTRACT_VERSION;
    r.FEATURES = TOE_REGS__FEATURES__SACK_bm | TOE_REGS__FEATURES__TIMESTAMPS_bm |
                 TOE_REGS__FEATURES__MODERATION_bm;
    r.QUEUE_PAIRS = sim::ToeDevice::kQps;
    r.BUFFER_MIN = 4096;
    r.BUFFER_MAX = 1u << 20;
    r.TICK_HZ = 1000000000;
    r.MTU = world.knobs.core.mtu;
    if (fd >= 0 && (ftruncate(fd, TOEDEV_PAGE) != 0 || pwrite(fd, &r, sizeof r, 0) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void welcome(uint32_t reason)
{
    const struct knobs &k = world.knobs;
    toedev_welcome w = {};
    struct iovec part = {&w, sizeof w};
    alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    struct msghdr message = {};
    int fds[2] = {host.registers, host.doorbell};

    w.magic = TOEDEV_MAGIC;
    w.version = TOEDEV_CONTRACT_VERSION;
    w.reason = reason;
    w.engines = 1;
    w.mtu = k.core.mtu;
    w.prefix_len = k.core.prefix_len;
    std::memcpy(w.mac, link_own_mac, sizeof w.mac);
    std::memcpy(w.ip, k.core.ip, sizeof w.ip);
    std::memcpy(w.gateway, k.core.gateway, sizeof w.gateway);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (reason) {
        std::strcpy(w.message, "the gateware cannot give such a queue pair");
    } else {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fds);
        std::memcpy(CMSG_DATA(c), fds, sizeof fds);
    }
    (void)!sendmsg(host.control, &message, MSG_NOSIGNAL);
}

sim::Ip6 own_ip6()
{
    const struct toec_config &core = world.knobs.core;
    sim::Ip6 ip6;

    if (core.ip6 == TOEC_IP6_OFF)
        return ip6;
    std::memcpy(ip6.own, core.ip6_addr, sizeof ip6.own);
    std::memcpy(ip6.gateway, core.ip6_gateway, sizeof ip6.gateway);
    ip6.prefix = core.ip6_prefix_len;
    return ip6;
}

/* Attaches the queue pair. Returns 0 or a TOE_R_*. */
uint32_t attach(const toedev_hello &hello, int area_fd, int irq_fd)
{
    struct toedev_layout layout;
    struct stat st;

    if (hello.kind != TOEDEV_HELLO_ATTACH || toedev_layout(&hello.qp, &layout) != 0 ||
        hello.qp.tx_size < 4096 || hello.qp.rx_size < 4096 || hello.qp.tx_size > 1u << 20 ||
        hello.qp.rx_size > 1u << 20 || fstat(area_fd, &st) != 0 ||
        static_cast<uint64_t>(st.st_size) != layout.total)
        return TOE_R_INVAL;
    void *area = mmap(nullptr, layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, area_fd, 0);
    if (area == MAP_FAILED)
        return TOE_R_NOBUFS;
    host.area = static_cast<uint8_t *>(area);
    host.size = layout.total;
    host.irq = irq_fd;
    host.qp = device->attach(hello.qp, host.area, [] {
        uint64_t one = 1;

        (void)!write(host.irq, &one, sizeof one);
    });
    if (host.qp < 0)
        return TOE_R_NOBUFS;
    sim::tell_ip6(*reinterpret_cast<toedev_status *>(host.area + layout.status), own_ip6());
    return 0;
}

void serve_hello()
{
    toedev_hello hello = {};
    struct iovec part = {&hello, sizeof hello};
    alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    struct msghdr message = {};
    int fds[4] = {-1, -1, -1, -1};
    ssize_t n;

    if (host.control < 0 || host.qp >= 0)
        return;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    n = recvmsg(host.control, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n != sizeof hello)
        return;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            std::memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    host.doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    uint32_t reason = attach(hello, fds[0], fds[1]);
    if (fds[0] >= 0)
        close(fds[0]);
    welcome(reason);
}

} // namespace

extern "C" {

int device_up(void)
{
    sim::ToeDevice::Config c = {};

    std::memcpy(c.mac, link_own_mac, sizeof c.mac);
    std::memcpy(c.ip, world.knobs.core.ip, sizeof c.ip);
    std::memcpy(c.gateway, world.knobs.core.gateway, sizeof c.gateway);
    c.prefix = world.knobs.core.prefix_len;
    c.ip6 = own_ip6();
    c.mtu = static_cast<uint16_t>(world.knobs.core.mtu);
    c.cc = world.knobs.core.cc == TOEC_CC_NEWRENO;
    std::memcpy(c.secret, world.knobs.core.secret, sizeof c.secret);
    c.seed = world.knobs.seed;
    device = new sim::ToeDevice(c, world.now, send_frame);
    host.registers = make_registers();
    return host.registers < 0 ? -1 : 0;
}

void device_down(void)
{
    delete device;
    device = nullptr;
    netio_close(world.wire);
    close(host.registers);
    host = Host{};
}

void device_greet(int fd)
{
    if (host.control >= 0)
        close(host.control);
    host.control = fd;
}

void device_leave(void)
{
    if (host.qp >= 0) {
        device->detach(host.qp);
        munmap(host.area, host.size);
        close(host.irq);
        host.qp = -1;
    }
    for (int *fd : {&host.control, &host.doorbell})
        if (*fd >= 0) {
            close(*fd);
            *fd = -1;
        }
}

void device_step(void)
{
    struct netio_frame frames[16];
    unsigned n;

    serve_hello();
    do {
        n = netio_rx(world.wire, frames, 16, world.now);
        for (unsigned i = 0; i < n; i++)
            device->receive(frames[i].data, frames[i].len);
        netio_rx_release(world.wire, frames, n);
        device->settle(world.now);
    } while (n);
}

uint64_t device_deadline(void)
{
    return device->deadline();
}

void device_fresh_records(void)
{
    if (host.qp >= 0)
        device->fresh_records(host.qp);
}

/* Returns -1: the gateware's counters have other names (toe_sim prints them at exit). */
int64_t device_counter(const char *name)
{
    (void)name;
    return -1;
}

void device_usage(uint32_t out[4])
{
    (void)out;
}
}
