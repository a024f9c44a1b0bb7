/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip.h - a host and its hybrid TOE on one chip (gateware/src/chip, docs/CHIP.md): what both
 * processors see of each other. The chip has one queue pair. Its DMA area, as toedev_layout()
 * computes it from the numbers here, begins at TOECHIP_MEMORY; behind it is a page by which the
 * host configures the TOE, in place of the registers of a card.
 */
#ifndef TOE_CHIP_H
#define TOE_CHIP_H

#include <stddef.h>
#include <stdint.h>

#include <toe/chip_regs.h>

/* The memory that both processors read and write, in the order of each one's accesses. */
#define TOECHIP_MEMORY 0x34000000u

/* struct toedev_qp_config of the queue pair; there is no address table, so the host sees IPv4. */
#define TOECHIP_ENTRIES 64u /* of either ring */
#define TOECHIP_SLOTS   16u
#define TOECHIP_TX      2048u
#define TOECHIP_RX      2048u

/* Offsets in the area; chip_shared.sv computes addresses of send buffers from the last. A unit test
 * compares them with toedev_layout(). */
#define TOECHIP_STATUS  0x1000u
#define TOECHIP_SW_RING 0x2000u
#define TOECHIP_HW_RING 0x3000u
#define TOECHIP_RECORDS 0x4000u
#define TOECHIP_BUFFERS 0x5000u
#define TOECHIP_PAGE    (TOECHIP_BUFFERS + TOECHIP_SLOTS * (TOECHIP_TX + TOECHIP_RX))

/* What the host writes before it sets enable. Addresses are numbers, as in commands. */
struct toechip_page {
    uint32_t enable;   /* host: TOECHIP_ENABLED while it uses the queue pair */
    uint32_t attached; /* TOE: 1 while it serves the queue pair */
    uint8_t mac[6];
    uint16_t mtu;
    uint32_t ip4, gateway; /* gateway 0: none */
    uint32_t prefix;       /* length of the on-link prefix */
    uint32_t secret[8];    /* random: initial sequence numbers, ports, hashes */
};
#define TOECHIP_ENABLED 0x454f5443u /* not a value that memory has by chance */

/* A register of this processor (device/chip.rdl), as a word. */
#define TOECHIP_REG(NAME) (*(volatile uint32_t *)(0x40010000u + offsetof(chip_regs_t, NAME)))

/* Bits of mie for `wfi`: the bell, a frame, the time. */
#define TOECHIP_WAKES (0xfu << 16)

#endif
