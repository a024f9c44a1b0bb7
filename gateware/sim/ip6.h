/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6.h - the driver's part of IPv6: derives the link-local address and writes the IPv6 fields of
 * the hosts' status pages, which the hardware does not write.
 */
#ifndef GATEWARE_SIM_IP6_H
#define GATEWARE_SIM_IP6_H

#include <cstdint>
#include <cstring>

#define _Alignas alignas
#define _Alignof alignof
#define _Static_assert static_assert
extern "C" {
#include <toe/device.h>
}

namespace sim
{

/* IPv6 addresses, in network byte order. */
struct Ip6 {
    uint8_t own[16] = {}, gateway[16] = {}; /* gateway: zeros for none */
    unsigned prefix = 0;                    /* 0: no IPv6 */
};

/* Derives it from the Ethernet address (RFC 4291 2.5.6, appendix A). */
inline void link_local(const uint8_t mac[6], uint8_t out[16])
{
    const uint8_t middle[] = {0xff, 0xfe};

    std::memset(out, 0, 8);
    out[0] = 0xfe;
    out[1] = 0x80;
    std::memcpy(out + 8, mac, 3);
    std::memcpy(out + 11, middle, 2);
    std::memcpy(out + 13, mac + 3, 3);
    out[8] ^= 2;
}

/* Call before the host receives its welcome: the page then has no concurrent reader. */
inline void tell_ip6(toedev_status &status, const Ip6 &ip6)
{
    static const uint8_t none[16] = {};
    toedev_ip6 &to = status.ip6;

    if (!ip6.prefix)
        return;
    to.flags = TOEDEV_IP6_ON | (std::memcmp(ip6.gateway, none, 16) ? TOEDEV_IP6_ROUTER : 0);
    to.count = 1;
    std::memcpy(to.addr[0], ip6.own, 16);
    to.prefix_len[0] = static_cast<uint8_t>(ip6.prefix);
    to.seq = 2;
}

} // namespace sim

#endif
