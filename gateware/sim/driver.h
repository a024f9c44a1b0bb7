/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the driver's part: sets addresses and secrets, starts the card, configures queue
 * pairs.
 */
#ifndef GATEWARE_SIM_DRIVER_H
#define GATEWARE_SIM_DRIVER_H

#include <cstdint>

#include "card.h"
#include "ip6.h"

extern "C" {
#include <toe/regs.h>
}

namespace sim
{

/* Offset of a register of toe.rdl. */
#define TOE_AT(name) static_cast<uint32_t>(offsetof(toe_regs_t, name))
#define TOE_BELL(q, name)                                                                          \
    static_cast<uint32_t>(                                                                         \
        offsetof(toe_regs_t, DOORBELLS[0].name) +                                                  \
        (q) * (offsetof(toe_regs_t, DOORBELLS[1]) - offsetof(toe_regs_t, DOORBELLS[0])))

/* DMA address: queue pair + 1, then the offset in its area. */
constexpr unsigned kAreaShift = 40;

struct Own {
    uint8_t ip[4] = {}, gateway[4] = {}, mac[6] = {2, 0x54, 0x4f, 0x45, 0, 1};
    unsigned prefix = 24, mtu = 1500;
    Ip6 ip6;
    bool newreno = false; /* else CUBIC */
};

/* Starts the card and returns when it is ready. seed generates the secrets; 0: use the system's
 * random numbers. */
void start(Card &card, const Own &own, uint64_t seed);

/* Writes the configuration of queue pair q. `first` is its first flow. */
void configure(Card &card, unsigned q, const toedev_qp_config &config,
               const struct toedev_layout &layout, uint16_t first, bool enable, bool detach);
/* Returns QP_STATE of queue pair q. */
uint32_t state(Card &card, unsigned q);

} // namespace sim

#endif
