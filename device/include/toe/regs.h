/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regs.h - BAR 0 of a TOE. Made by device/gen_regs.py from device/toe.rdl; change that, not this
 * file. The fields are described there. Values are little endian.
 *
 * source sha256 fb062fce81fdd1dc1e873a973391140f17f896d419c477b14ca90db1d38de447
 * text sha256   8cb74c876cb1ac664043eeaf98cd1624babd200f77d1911ca435211e57832812
 */
/* clang-format off */
#ifndef TOE_REGS_H
#define TOE_REGS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stdint.h>
#include <assert.h>

// reg - toe_regs::word
#define TOE_REGS__WORD__V_bm 0xffffffff
#define TOE_REGS__WORD__V_bp 0
#define TOE_REGS__WORD__V_bw 32

// reg - toe_regs::word64
#define TOE_REGS__WORD64__V_bm 0xffffffffffffffff
#define TOE_REGS__WORD64__V_bp 0
#define TOE_REGS__WORD64__V_bw 64

// reg - toe_regs::feature_bits
#define TOE_REGS__FEATURE_BITS__IPV6_bm 0x1
#define TOE_REGS__FEATURE_BITS__IPV6_bp 0
#define TOE_REGS__FEATURE_BITS__IPV6_bw 1
#define TOE_REGS__FEATURE_BITS__SACK_bm 0x2
#define TOE_REGS__FEATURE_BITS__SACK_bp 1
#define TOE_REGS__FEATURE_BITS__SACK_bw 1
#define TOE_REGS__FEATURE_BITS__TIMESTAMPS_bm 0x4
#define TOE_REGS__FEATURE_BITS__TIMESTAMPS_bp 2
#define TOE_REGS__FEATURE_BITS__TIMESTAMPS_bw 1
#define TOE_REGS__FEATURE_BITS__TSO_bm 0x8
#define TOE_REGS__FEATURE_BITS__TSO_bp 3
#define TOE_REGS__FEATURE_BITS__TSO_bw 1
#define TOE_REGS__FEATURE_BITS__RX_CSUM_bm 0x10
#define TOE_REGS__FEATURE_BITS__RX_CSUM_bp 4
#define TOE_REGS__FEATURE_BITS__RX_CSUM_bw 1
#define TOE_REGS__FEATURE_BITS__TX_CSUM_bm 0x20
#define TOE_REGS__FEATURE_BITS__TX_CSUM_bp 5
#define TOE_REGS__FEATURE_BITS__TX_CSUM_bw 1
#define TOE_REGS__FEATURE_BITS__JUMBO_bm 0x40
#define TOE_REGS__FEATURE_BITS__JUMBO_bp 6
#define TOE_REGS__FEATURE_BITS__JUMBO_bw 1
#define TOE_REGS__FEATURE_BITS__MODERATION_bm 0x80
#define TOE_REGS__FEATURE_BITS__MODERATION_bp 7
#define TOE_REGS__FEATURE_BITS__MODERATION_bw 1
#define TOE_REGS__FEATURE_BITS__RTT_bm 0x100
#define TOE_REGS__FEATURE_BITS__RTT_bp 8
#define TOE_REGS__FEATURE_BITS__RTT_bw 1
#define TOE_REGS__FEATURE_BITS__MOVE_bm 0x200
#define TOE_REGS__FEATURE_BITS__MOVE_bp 9
#define TOE_REGS__FEATURE_BITS__MOVE_bw 1

// reg - toe_regs::TICK_CYCLES
#define TOE_REGS__TICK_CYCLES__V_bm 0xffffffff
#define TOE_REGS__TICK_CYCLES__V_bp 0
#define TOE_REGS__TICK_CYCLES__V_bw 32

// reg - toe_regs::RESET
#define TOE_REGS__RESET__V_bm 0x1
#define TOE_REGS__RESET__V_bp 0
#define TOE_REGS__RESET__V_bw 1

// reg - toe_regs::DOORBELLS::word_w
#define TOE_REGS__DOORBELLS__WORD_W__V_bm 0xffffffff
#define TOE_REGS__DOORBELLS__WORD_W__V_bp 0
#define TOE_REGS__DOORBELLS__WORD_W__V_bw 32

// regfile - toe_regs::DOORBELLS
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
} toe_regs__DOORBELLS__stride1000_t;

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
    toe_regs__DOORBELLS__stride1000_t DOORBELLS[64];
} toe_regs_t;


static_assert(sizeof(toe_regs_t) == 0x41000, "Packing error");

#ifdef __cplusplus
}
#endif

#endif /* TOE_REGS_H */
