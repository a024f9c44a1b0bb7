/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <random>

namespace sim
{

namespace
{

uint32_t log2_of(uint32_t power)
{
    return static_cast<uint32_t>(__builtin_ctz(power));
}

uint32_t number(const uint8_t *b)
{
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
}

/* Writes an address in network byte order, four octets per word (device/toe.rdl). */
void set_address(Card &card, uint32_t at, const uint8_t address[16])
{
    for (uint32_t i = 0; i < 16; i += 4)
        card.set(at + i, uint32_t{address[i]} | uint32_t{address[i + 1]} << 8 |
                             uint32_t{address[i + 2]} << 16 | uint32_t{address[i + 3]} << 24);
}

} // namespace

void start(Card &card, const Own &own, uint64_t seed)
{
    std::random_device device;
    std::mt19937_64 random(seed ? seed : (uint64_t{device()} << 32 | device()));

    card.set(TOE_AT(MAC_LO), uint32_t{own.mac[0]} | uint32_t{own.mac[1]} << 8 |
                                 uint32_t{own.mac[2]} << 16 | uint32_t{own.mac[3]} << 24);
    card.set(TOE_AT(MAC_HI), uint32_t{own.mac[4]} | uint32_t{own.mac[5]} << 8);
    card.set(TOE_AT(MTU), own.mtu);
    card.set(TOE_AT(CC), own.newreno);
    card.set(TOE_AT(IPV4), number(own.ip));
    card.set(TOE_AT(IPV4_PREFIX), own.prefix);
    card.set(TOE_AT(IPV4_GATEWAY), number(own.gateway));
    if (own.ip6.prefix) {
        uint8_t link[16];

        link_local(own.mac, link);
        card.set(TOE_AT(IPV6_PREFIX), own.ip6.prefix);
        set_address(card, TOE_AT(IPV6), own.ip6.own);
        set_address(card, TOE_AT(IPV6_GATEWAY), own.ip6.gateway);
        set_address(card, TOE_AT(IPV6_LINK), link);
    }
    for (uint32_t i = 0; i < 4; i++)
        card.set(TOE_AT(SECRET) + 4 * i, static_cast<uint32_t>(random()));
    for (uint32_t i = 0; i < 12; i++)
        card.set(TOE_AT(HASH_KEY) + 4 * i, static_cast<uint32_t>(random()));
    card.set(TOE_AT(RUN), 1);
    while (!card.reg(TOE_AT(READY)))
        card.cycle();
    for (uint32_t i = card.reg(TOE_AT(FLOWS)); i > 0; i--)
        card.cycle(); /* the gateware clears the timers' memory */
}

void configure(Card &card, unsigned q, const toedev_qp_config &config,
               const struct toedev_layout &layout, uint16_t first, bool enable, bool detach)
{
    uint64_t area = uint64_t{q + 1} << kAreaShift;

    card.set(TOE_AT(QP_SELECT), q);
    card.set(TOE_AT(QP_AREA_LO), static_cast<uint32_t>(area));
    card.set(TOE_AT(QP_AREA_HI), static_cast<uint32_t>(area >> 32));
    card.set(TOE_AT(QP_RINGS), log2_of(config.sw_entries) << TOE_REGS__QP_RINGS__SW_LOG_bp |
                                   log2_of(config.hw_entries) << TOE_REGS__QP_RINGS__HW_LOG_bp |
                                   log2_of(config.slots) << TOE_REGS__QP_RINGS__SLOTS_LOG_bp);
    card.set(TOE_AT(QP_BUFFERS), log2_of(config.tx_size) << TOE_REGS__QP_BUFFERS__TX_LOG_bp |
                                     log2_of(config.rx_size) << TOE_REGS__QP_BUFFERS__RX_LOG_bp |
                                     config.addresses << TOE_REGS__QP_BUFFERS__ADDRESSES_bp);
    card.set(TOE_AT(QP_FIRST), first);
    card.set(TOE_AT(QP_STATUS_AT), static_cast<uint32_t>(layout.status));
    card.set(TOE_AT(QP_SW_AT), static_cast<uint32_t>(layout.sw_ring));
    card.set(TOE_AT(QP_HW_AT), static_cast<uint32_t>(layout.hw_ring));
    card.set(TOE_AT(QP_RECORDS_AT), static_cast<uint32_t>(layout.records));
    card.set(TOE_AT(QP_ADDRESSES_AT), static_cast<uint32_t>(layout.addresses));
    card.set(TOE_AT(QP_BUFFERS_AT), static_cast<uint32_t>(layout.buffers));
    card.set(TOE_AT(QP_COMMAND), (enable ? TOE_REGS__QP_COMMAND__ENABLE_bm : 0) |
                                     (detach ? TOE_REGS__QP_COMMAND__DETACH_bm : 0) |
                                     TOE_REGS__QP_COMMAND__WRITE_bm);
}

uint32_t state(Card &card, unsigned q)
{
    card.set(TOE_AT(QP_SELECT), q);
    return card.reg(TOE_AT(QP_STATE));
}

} // namespace sim
