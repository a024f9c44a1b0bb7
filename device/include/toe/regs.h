/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regs.h - TOE registers. Made by device/gen_regs.py from device/toe.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 1ba5f0922ce6e44cfcb145079377355a333b20fa1c5def5a15bc4fa89b952aca
 * text sha256   e60c1aa9811523e18ea3feaa6a7a13cf112f875f7cf2f80d4c884d4c943b2359
 */
/* clang-format off */
#ifndef TOE_REGS_H
#define TOE_REGS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stdint.h>
#include <assert.h>

// reg - toe_regs.ID
#define TOE_REGS__ID__V_bm 0xffffffff
#define TOE_REGS__ID__V_bp 0
#define TOE_REGS__ID__V_bw 32

// reg - toe_regs.CONTRACT
#define TOE_REGS__CONTRACT__V_bm 0xffffffff
#define TOE_REGS__CONTRACT__V_bp 0
#define TOE_REGS__CONTRACT__V_bw 32

// reg - toe_regs.BUILD_ID
#define TOE_REGS__BUILD_ID__V_bm 0xffffffffffffffff
#define TOE_REGS__BUILD_ID__V_bp 0
#define TOE_REGS__BUILD_ID__V_bw 64

// reg - toe_regs.FEATURES
#define TOE_REGS__FEATURES__IPV6_bm 0x1
#define TOE_REGS__FEATURES__IPV6_bp 0
#define TOE_REGS__FEATURES__IPV6_bw 1
#define TOE_REGS__FEATURES__SACK_bm 0x2
#define TOE_REGS__FEATURES__SACK_bp 1
#define TOE_REGS__FEATURES__SACK_bw 1
#define TOE_REGS__FEATURES__TIMESTAMPS_bm 0x4
#define TOE_REGS__FEATURES__TIMESTAMPS_bp 2
#define TOE_REGS__FEATURES__TIMESTAMPS_bw 1
#define TOE_REGS__FEATURES__TSO_bm 0x8
#define TOE_REGS__FEATURES__TSO_bp 3
#define TOE_REGS__FEATURES__TSO_bw 1
#define TOE_REGS__FEATURES__RX_CSUM_bm 0x10
#define TOE_REGS__FEATURES__RX_CSUM_bp 4
#define TOE_REGS__FEATURES__RX_CSUM_bw 1
#define TOE_REGS__FEATURES__TX_CSUM_bm 0x20
#define TOE_REGS__FEATURES__TX_CSUM_bp 5
#define TOE_REGS__FEATURES__TX_CSUM_bw 1
#define TOE_REGS__FEATURES__JUMBO_bm 0x40
#define TOE_REGS__FEATURES__JUMBO_bp 6
#define TOE_REGS__FEATURES__JUMBO_bw 1
#define TOE_REGS__FEATURES__MODERATION_bm 0x80
#define TOE_REGS__FEATURES__MODERATION_bp 7
#define TOE_REGS__FEATURES__MODERATION_bw 1
#define TOE_REGS__FEATURES__RTT_bm 0x100
#define TOE_REGS__FEATURES__RTT_bp 8
#define TOE_REGS__FEATURES__RTT_bw 1
#define TOE_REGS__FEATURES__MOVE_bm 0x200
#define TOE_REGS__FEATURES__MOVE_bp 9
#define TOE_REGS__FEATURES__MOVE_bw 1

// reg - toe_regs.QUEUE_PAIRS
#define TOE_REGS__QUEUE_PAIRS__V_bm 0xffffffff
#define TOE_REGS__QUEUE_PAIRS__V_bp 0
#define TOE_REGS__QUEUE_PAIRS__V_bw 32

// reg - toe_regs.FLOWS
#define TOE_REGS__FLOWS__V_bm 0xffffffff
#define TOE_REGS__FLOWS__V_bp 0
#define TOE_REGS__FLOWS__V_bw 32

// reg - toe_regs.SLOTS
#define TOE_REGS__SLOTS__V_bm 0xffffffff
#define TOE_REGS__SLOTS__V_bp 0
#define TOE_REGS__SLOTS__V_bw 32

// reg - toe_regs.BUFFER_MIN
#define TOE_REGS__BUFFER_MIN__V_bm 0xffffffff
#define TOE_REGS__BUFFER_MIN__V_bp 0
#define TOE_REGS__BUFFER_MIN__V_bw 32

// reg - toe_regs.BUFFER_MAX
#define TOE_REGS__BUFFER_MAX__V_bm 0xffffffff
#define TOE_REGS__BUFFER_MAX__V_bp 0
#define TOE_REGS__BUFFER_MAX__V_bw 32

// reg - toe_regs.TICK_HZ
#define TOE_REGS__TICK_HZ__V_bm 0xffffffff
#define TOE_REGS__TICK_HZ__V_bp 0
#define TOE_REGS__TICK_HZ__V_bw 32

// reg - toe_regs.TICK_CYCLES
#define TOE_REGS__TICK_CYCLES__V_bm 0xffffffff
#define TOE_REGS__TICK_CYCLES__V_bp 0
#define TOE_REGS__TICK_CYCLES__V_bw 32

// reg - toe_regs.MAC_LO
#define TOE_REGS__MAC_LO__V_bm 0xffffffff
#define TOE_REGS__MAC_LO__V_bp 0
#define TOE_REGS__MAC_LO__V_bw 32

// reg - toe_regs.MAC_HI
#define TOE_REGS__MAC_HI__V_bm 0xffffffff
#define TOE_REGS__MAC_HI__V_bp 0
#define TOE_REGS__MAC_HI__V_bw 32

// reg - toe_regs.MTU
#define TOE_REGS__MTU__V_bm 0xffffffff
#define TOE_REGS__MTU__V_bp 0
#define TOE_REGS__MTU__V_bw 32

// reg - toe_regs.IPV4
#define TOE_REGS__IPV4__V_bm 0xffffffff
#define TOE_REGS__IPV4__V_bp 0
#define TOE_REGS__IPV4__V_bw 32

// reg - toe_regs.IPV4_PREFIX
#define TOE_REGS__IPV4_PREFIX__V_bm 0xffffffff
#define TOE_REGS__IPV4_PREFIX__V_bp 0
#define TOE_REGS__IPV4_PREFIX__V_bw 32

// reg - toe_regs.IPV4_GATEWAY
#define TOE_REGS__IPV4_GATEWAY__V_bm 0xffffffff
#define TOE_REGS__IPV4_GATEWAY__V_bp 0
#define TOE_REGS__IPV4_GATEWAY__V_bw 32

// reg - toe_regs.IPV6[]
#define TOE_REGS__IPV6X__V_bm 0xffffffff
#define TOE_REGS__IPV6X__V_bp 0
#define TOE_REGS__IPV6X__V_bw 32

// reg - toe_regs.IPV6_PREFIX
#define TOE_REGS__IPV6_PREFIX__V_bm 0xffffffff
#define TOE_REGS__IPV6_PREFIX__V_bp 0
#define TOE_REGS__IPV6_PREFIX__V_bw 32

// reg - toe_regs.IPV6_GATEWAY[]
#define TOE_REGS__IPV6_GATEWAYX__V_bm 0xffffffff
#define TOE_REGS__IPV6_GATEWAYX__V_bp 0
#define TOE_REGS__IPV6_GATEWAYX__V_bw 32

// reg - toe_regs.RESET
#define TOE_REGS__RESET__V_bm 0x1
#define TOE_REGS__RESET__V_bp 0
#define TOE_REGS__RESET__V_bw 1

// reg - toe_regs.COUNTERS[]
#define TOE_REGS__COUNTERSX__V_bm 0xffffffffffffffff
#define TOE_REGS__COUNTERSX__V_bp 0
#define TOE_REGS__COUNTERSX__V_bw 64

// reg - toe_regs.DOORBELLS[].SW_HEAD
#define TOE_REGS__DOORBELLSX__SW_HEAD__V_bm 0xffffffff
#define TOE_REGS__DOORBELLSX__SW_HEAD__V_bp 0
#define TOE_REGS__DOORBELLSX__SW_HEAD__V_bw 32

// reg - toe_regs.DOORBELLS[].HW_TAIL
#define TOE_REGS__DOORBELLSX__HW_TAIL__V_bm 0xffffffff
#define TOE_REGS__DOORBELLSX__HW_TAIL__V_bp 0
#define TOE_REGS__DOORBELLSX__HW_TAIL__V_bw 32

// reg - toe_regs.DOORBELLS[].IRQ_ARM
#define TOE_REGS__DOORBELLSX__IRQ_ARM__V_bm 0xffffffff
#define TOE_REGS__DOORBELLSX__IRQ_ARM__V_bp 0
#define TOE_REGS__DOORBELLSX__IRQ_ARM__V_bw 32

// reg - toe_regs.DOORBELLS[].IRQ_SEQ
#define TOE_REGS__DOORBELLSX__IRQ_SEQ__V_bm 0xffffffff
#define TOE_REGS__DOORBELLSX__IRQ_SEQ__V_bp 0
#define TOE_REGS__DOORBELLSX__IRQ_SEQ__V_bw 32

// reg - toe_regs.DOORBELLS[].IRQ_COUNT
#define TOE_REGS__DOORBELLSX__IRQ_COUNT__V_bm 0xffffffff
#define TOE_REGS__DOORBELLSX__IRQ_COUNT__V_bp 0
#define TOE_REGS__DOORBELLSX__IRQ_COUNT__V_bw 32

// reg - toe_regs.DOORBELLS[].IRQ_USEC
#define TOE_REGS__DOORBELLSX__IRQ_USEC__V_bm 0xffffffff
#define TOE_REGS__DOORBELLSX__IRQ_USEC__V_bp 0
#define TOE_REGS__DOORBELLSX__IRQ_USEC__V_bw 32

// regfile - toe_regs.DOORBELLS[]
typedef struct __attribute__ ((__packed__)) {
    uint32_t SW_HEAD;
    uint8_t RESERVED_4_3f[0x3c];
    uint32_t HW_TAIL;
    uint8_t RESERVED_44_7f[0x3c];
    uint32_t IRQ_ARM;
    uint32_t IRQ_SEQ;
    uint8_t RESERVED_88_bf[0x38];
    uint32_t IRQ_COUNT;
    uint32_t IRQ_USEC;
    uint8_t RESERVED_c8_fff[0xf38];
} toe_regs__DOORBELLSx__stride1000_t;

// addrmap - toe_regs
typedef struct __attribute__ ((__packed__)) {
    uint32_t ID;
    uint32_t CONTRACT;
    uint64_t BUILD_ID;
    uint32_t FEATURES;
    uint32_t QUEUE_PAIRS;
    uint32_t FLOWS;
    uint32_t SLOTS;
    uint32_t BUFFER_MIN;
    uint32_t BUFFER_MAX;
    uint32_t TICK_HZ;
    uint32_t TICK_CYCLES;
    uint32_t MAC_LO;
    uint32_t MAC_HI;
    uint32_t MTU;
    uint8_t RESERVED_3c_3f[0x4];
    uint32_t IPV4;
    uint32_t IPV4_PREFIX;
    uint32_t IPV4_GATEWAY;
    uint8_t RESERVED_4c_4f[0x4];
    uint32_t IPV6[4];
    uint32_t IPV6_PREFIX;
    uint8_t RESERVED_64_6f[0xc];
    uint32_t IPV6_GATEWAY[4];
    uint32_t RESET;
    uint8_t RESERVED_84_7ff[0x77c];
    uint64_t COUNTERS[256];
    toe_regs__DOORBELLSx__stride1000_t DOORBELLS[64];
} toe_regs_t;


static_assert(sizeof(toe_regs_t) == 0x41000, "Packing error");

#ifdef __cplusplus
}
#endif

/* REG(name, offset, bytes, count, stride, access, text): an array has its count */
#define TOE_REGS_TABLE(REG) \
    REG("ID", 0x0, 4, 1, 0x4, "r", "") \
    REG("CONTRACT", 0x4, 4, 1, 0x4, "r", "") \
    REG("BUILD_ID", 0x8, 8, 1, 0x8, "r", "") \
    REG("FEATURES", 0x10, 4, 1, 0x4, "r", "") \
    REG("QUEUE_PAIRS", 0x14, 4, 1, 0x4, "r", "") \
    REG("FLOWS", 0x18, 4, 1, 0x4, "r", "") \
    REG("SLOTS", 0x1c, 4, 1, 0x4, "r", "") \
    REG("BUFFER_MIN", 0x20, 4, 1, 0x4, "r", "") \
    REG("BUFFER_MAX", 0x24, 4, 1, 0x4, "r", "") \
    REG("TICK_HZ", 0x28, 4, 1, 0x4, "r", "") \
    REG("TICK_CYCLES", 0x2c, 4, 1, 0x4, "rw", "") \
    REG("MAC_LO", 0x30, 4, 1, 0x4, "r", "") \
    REG("MAC_HI", 0x34, 4, 1, 0x4, "r", "") \
    REG("MTU", 0x38, 4, 1, 0x4, "r", "") \
    REG("IPV4", 0x40, 4, 1, 0x4, "r", "") \
    REG("IPV4_PREFIX", 0x44, 4, 1, 0x4, "r", "") \
    REG("IPV4_GATEWAY", 0x48, 4, 1, 0x4, "r", "") \
    REG("IPV6", 0x50, 4, 4, 0x4, "r", "") \
    REG("IPV6_PREFIX", 0x60, 4, 1, 0x4, "r", "") \
    REG("IPV6_GATEWAY", 0x70, 4, 4, 0x4, "r", "") \
    REG("RESET", 0x80, 4, 1, 0x4, "w", "") \
    REG("COUNTERS", 0x800, 8, 256, 0x8, "r", "") \
    REG("DOORBELLS.SW_HEAD", 0x1000, 4, 64, 0x1000, "rw", "") \
    REG("DOORBELLS.HW_TAIL", 0x1040, 4, 64, 0x1000, "rw", "") \
    REG("DOORBELLS.IRQ_ARM", 0x1080, 4, 64, 0x1000, "rw", "") \
    REG("DOORBELLS.IRQ_SEQ", 0x1084, 4, 64, 0x1000, "rw", "") \
    REG("DOORBELLS.IRQ_COUNT", 0x10c0, 4, 64, 0x1000, "rw", "") \
    REG("DOORBELLS.IRQ_USEC", 0x10c4, 4, 64, 0x1000, "rw", "")

/* FIELD(register, name, low bit, bits, text), of registers with more than one */
#define TOE_REGS_FIELDS(FIELD) \
    FIELD("FEATURES", "ipv6", 0, 1, "IPv6") \
    FIELD("FEATURES", "sack", 1, 1, "selective acknowledgement") \
    FIELD("FEATURES", "timestamps", 2, 1, "timestamps") \
    FIELD("FEATURES", "tso", 3, 1, "segments cut by the medium") \
    FIELD("FEATURES", "rx_csum", 4, 1, "receive checksums by the medium") \
    FIELD("FEATURES", "tx_csum", 5, 1, "transmit checksums by the medium") \
    FIELD("FEATURES", "jumbo", 6, 1, "MTU above 1500") \
    FIELD("FEATURES", "moderation", 7, 1, "interrupt moderation") \
    FIELD("FEATURES", "rtt", 8, 1, "round-trip measurement registers") \
    FIELD("FEATURES", "move", 9, 1, "MOVE command")

#endif /* TOE_REGS_H */
