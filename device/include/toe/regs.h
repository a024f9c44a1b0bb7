/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regs.h - TOE registers. Made by device/gen_regs.py from device/toe.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 61a61b56e57a3223c5da347c014cd24b675d61624fc1eb555902ea2f6efc9622
 * text sha256   4e234d8d6770debef8e99316ed90b006c2da879da8c9e8646c5548bd702d4e43
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
#define TOE_REGS__FEATURES__CARD_bm 0x400
#define TOE_REGS__FEATURES__CARD_bp 10
#define TOE_REGS__FEATURES__CARD_bw 1
#define TOE_REGS__FEATURES__CUBIC_bm 0x800
#define TOE_REGS__FEATURES__CUBIC_bp 11
#define TOE_REGS__FEATURES__CUBIC_bw 1
#define TOE_REGS__FEATURES__ECN_bm 0x1000
#define TOE_REGS__FEATURES__ECN_bp 12
#define TOE_REGS__FEATURES__ECN_bw 1
#define TOE_REGS__FEATURES__FASTOPEN_bm 0x2000
#define TOE_REGS__FEATURES__FASTOPEN_bp 13
#define TOE_REGS__FEATURES__FASTOPEN_bw 1
#define TOE_REGS__FEATURES__URGENT_bm 0x4000
#define TOE_REGS__FEATURES__URGENT_bp 14
#define TOE_REGS__FEATURES__URGENT_bw 1
#define TOE_REGS__FEATURES__PACING_bm 0x8000
#define TOE_REGS__FEATURES__PACING_bp 15
#define TOE_REGS__FEATURES__PACING_bw 1
#define TOE_REGS__FEATURES__PMTUD_bm 0x10000
#define TOE_REGS__FEATURES__PMTUD_bp 16
#define TOE_REGS__FEATURES__PMTUD_bw 1

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
#define TOE_REGS__MAC_LO__V_reset 0x0

// reg - toe_regs.MAC_HI
#define TOE_REGS__MAC_HI__V_bm 0xffffffff
#define TOE_REGS__MAC_HI__V_bp 0
#define TOE_REGS__MAC_HI__V_bw 32
#define TOE_REGS__MAC_HI__V_reset 0x0

// reg - toe_regs.MTU
#define TOE_REGS__MTU__V_bm 0xffffffff
#define TOE_REGS__MTU__V_bp 0
#define TOE_REGS__MTU__V_bw 32
#define TOE_REGS__MTU__V_reset 0x0

// reg - toe_regs.IPV4
#define TOE_REGS__IPV4__V_bm 0xffffffff
#define TOE_REGS__IPV4__V_bp 0
#define TOE_REGS__IPV4__V_bw 32
#define TOE_REGS__IPV4__V_reset 0x0

// reg - toe_regs.IPV4_PREFIX
#define TOE_REGS__IPV4_PREFIX__V_bm 0xffffffff
#define TOE_REGS__IPV4_PREFIX__V_bp 0
#define TOE_REGS__IPV4_PREFIX__V_bw 32
#define TOE_REGS__IPV4_PREFIX__V_reset 0x0

// reg - toe_regs.IPV4_GATEWAY
#define TOE_REGS__IPV4_GATEWAY__V_bm 0xffffffff
#define TOE_REGS__IPV4_GATEWAY__V_bp 0
#define TOE_REGS__IPV4_GATEWAY__V_bw 32
#define TOE_REGS__IPV4_GATEWAY__V_reset 0x0

// reg - toe_regs.IPV6[]
#define TOE_REGS__IPV6X__V_bm 0xffffffff
#define TOE_REGS__IPV6X__V_bp 0
#define TOE_REGS__IPV6X__V_bw 32
#define TOE_REGS__IPV6X__V_reset 0x0

// reg - toe_regs.IPV6_PREFIX
#define TOE_REGS__IPV6_PREFIX__V_bm 0xffffffff
#define TOE_REGS__IPV6_PREFIX__V_bp 0
#define TOE_REGS__IPV6_PREFIX__V_bw 32
#define TOE_REGS__IPV6_PREFIX__V_reset 0x0

// reg - toe_regs.IPV6_GATEWAY[]
#define TOE_REGS__IPV6_GATEWAYX__V_bm 0xffffffff
#define TOE_REGS__IPV6_GATEWAYX__V_bp 0
#define TOE_REGS__IPV6_GATEWAYX__V_bw 32
#define TOE_REGS__IPV6_GATEWAYX__V_reset 0x0

// reg - toe_regs.RESET
#define TOE_REGS__RESET__V_bm 0x1
#define TOE_REGS__RESET__V_bp 0
#define TOE_REGS__RESET__V_bw 1

// reg - toe_regs.IPV6_LINK[]
#define TOE_REGS__IPV6_LINKX__V_bm 0xffffffff
#define TOE_REGS__IPV6_LINKX__V_bp 0
#define TOE_REGS__IPV6_LINKX__V_bw 32
#define TOE_REGS__IPV6_LINKX__V_reset 0x0

// reg - toe_regs.SECRET[]
#define TOE_REGS__SECRETX__V_bm 0xffffffff
#define TOE_REGS__SECRETX__V_bp 0
#define TOE_REGS__SECRETX__V_bw 32
#define TOE_REGS__SECRETX__V_reset 0x0

// reg - toe_regs.HASH_KEY[]
#define TOE_REGS__HASH_KEYX__V_bm 0xffffffff
#define TOE_REGS__HASH_KEYX__V_bp 0
#define TOE_REGS__HASH_KEYX__V_bw 32
#define TOE_REGS__HASH_KEYX__V_reset 0x0

// reg - toe_regs.RUN
#define TOE_REGS__RUN__ON_bm 0x1
#define TOE_REGS__RUN__ON_bp 0
#define TOE_REGS__RUN__ON_bw 1
#define TOE_REGS__RUN__ON_reset 0x0

// reg - toe_regs.READY
#define TOE_REGS__READY__V_bm 0x1
#define TOE_REGS__READY__V_bp 0
#define TOE_REGS__READY__V_bw 1

// reg - toe_regs.CC
#define TOE_REGS__CC__NEWRENO_bm 0x1
#define TOE_REGS__CC__NEWRENO_bp 0
#define TOE_REGS__CC__NEWRENO_bw 1
#define TOE_REGS__CC__NEWRENO_reset 0x0

// reg - toe_regs.QP_SELECT
#define TOE_REGS__QP_SELECT__V_bm 0xffffffff
#define TOE_REGS__QP_SELECT__V_bp 0
#define TOE_REGS__QP_SELECT__V_bw 32
#define TOE_REGS__QP_SELECT__V_reset 0x0

// reg - toe_regs.QP_AREA_LO
#define TOE_REGS__QP_AREA_LO__V_bm 0xffffffff
#define TOE_REGS__QP_AREA_LO__V_bp 0
#define TOE_REGS__QP_AREA_LO__V_bw 32
#define TOE_REGS__QP_AREA_LO__V_reset 0x0

// reg - toe_regs.QP_AREA_HI
#define TOE_REGS__QP_AREA_HI__V_bm 0xffffffff
#define TOE_REGS__QP_AREA_HI__V_bp 0
#define TOE_REGS__QP_AREA_HI__V_bw 32
#define TOE_REGS__QP_AREA_HI__V_reset 0x0

// reg - toe_regs.QP_RINGS
#define TOE_REGS__QP_RINGS__SW_LOG_bm 0x1f
#define TOE_REGS__QP_RINGS__SW_LOG_bp 0
#define TOE_REGS__QP_RINGS__SW_LOG_bw 5
#define TOE_REGS__QP_RINGS__SW_LOG_reset 0x0
#define TOE_REGS__QP_RINGS__HW_LOG_bm 0x1f00
#define TOE_REGS__QP_RINGS__HW_LOG_bp 8
#define TOE_REGS__QP_RINGS__HW_LOG_bw 5
#define TOE_REGS__QP_RINGS__HW_LOG_reset 0x0
#define TOE_REGS__QP_RINGS__SLOTS_LOG_bm 0x1f0000
#define TOE_REGS__QP_RINGS__SLOTS_LOG_bp 16
#define TOE_REGS__QP_RINGS__SLOTS_LOG_bw 5
#define TOE_REGS__QP_RINGS__SLOTS_LOG_reset 0x0

// reg - toe_regs.QP_BUFFERS
#define TOE_REGS__QP_BUFFERS__TX_LOG_bm 0x1f
#define TOE_REGS__QP_BUFFERS__TX_LOG_bp 0
#define TOE_REGS__QP_BUFFERS__TX_LOG_bw 5
#define TOE_REGS__QP_BUFFERS__TX_LOG_reset 0x0
#define TOE_REGS__QP_BUFFERS__RX_LOG_bm 0x1f00
#define TOE_REGS__QP_BUFFERS__RX_LOG_bp 8
#define TOE_REGS__QP_BUFFERS__RX_LOG_bw 5
#define TOE_REGS__QP_BUFFERS__RX_LOG_reset 0x0
#define TOE_REGS__QP_BUFFERS__ADDRESSES_bm 0x1fff0000
#define TOE_REGS__QP_BUFFERS__ADDRESSES_bp 16
#define TOE_REGS__QP_BUFFERS__ADDRESSES_bw 13
#define TOE_REGS__QP_BUFFERS__ADDRESSES_reset 0x0

// reg - toe_regs.QP_FIRST
#define TOE_REGS__QP_FIRST__V_bm 0xffffffff
#define TOE_REGS__QP_FIRST__V_bp 0
#define TOE_REGS__QP_FIRST__V_bw 32
#define TOE_REGS__QP_FIRST__V_reset 0x0

// reg - toe_regs.QP_STATUS_AT
#define TOE_REGS__QP_STATUS_AT__V_bm 0xffffffff
#define TOE_REGS__QP_STATUS_AT__V_bp 0
#define TOE_REGS__QP_STATUS_AT__V_bw 32
#define TOE_REGS__QP_STATUS_AT__V_reset 0x0

// reg - toe_regs.QP_SW_AT
#define TOE_REGS__QP_SW_AT__V_bm 0xffffffff
#define TOE_REGS__QP_SW_AT__V_bp 0
#define TOE_REGS__QP_SW_AT__V_bw 32
#define TOE_REGS__QP_SW_AT__V_reset 0x0

// reg - toe_regs.QP_HW_AT
#define TOE_REGS__QP_HW_AT__V_bm 0xffffffff
#define TOE_REGS__QP_HW_AT__V_bp 0
#define TOE_REGS__QP_HW_AT__V_bw 32
#define TOE_REGS__QP_HW_AT__V_reset 0x0

// reg - toe_regs.QP_RECORDS_AT
#define TOE_REGS__QP_RECORDS_AT__V_bm 0xffffffff
#define TOE_REGS__QP_RECORDS_AT__V_bp 0
#define TOE_REGS__QP_RECORDS_AT__V_bw 32
#define TOE_REGS__QP_RECORDS_AT__V_reset 0x0

// reg - toe_regs.QP_ADDRESSES_AT
#define TOE_REGS__QP_ADDRESSES_AT__V_bm 0xffffffff
#define TOE_REGS__QP_ADDRESSES_AT__V_bp 0
#define TOE_REGS__QP_ADDRESSES_AT__V_bw 32
#define TOE_REGS__QP_ADDRESSES_AT__V_reset 0x0

// reg - toe_regs.QP_BUFFERS_AT
#define TOE_REGS__QP_BUFFERS_AT__V_bm 0xffffffff
#define TOE_REGS__QP_BUFFERS_AT__V_bp 0
#define TOE_REGS__QP_BUFFERS_AT__V_bw 32
#define TOE_REGS__QP_BUFFERS_AT__V_reset 0x0

// reg - toe_regs.QP_COMMAND
#define TOE_REGS__QP_COMMAND__ENABLE_bm 0x1
#define TOE_REGS__QP_COMMAND__ENABLE_bp 0
#define TOE_REGS__QP_COMMAND__ENABLE_bw 1
#define TOE_REGS__QP_COMMAND__ENABLE_reset 0x0
#define TOE_REGS__QP_COMMAND__DETACH_bm 0x2
#define TOE_REGS__QP_COMMAND__DETACH_bp 1
#define TOE_REGS__QP_COMMAND__DETACH_bw 1
#define TOE_REGS__QP_COMMAND__DETACH_reset 0x0
#define TOE_REGS__QP_COMMAND__WRITE_bm 0x4
#define TOE_REGS__QP_COMMAND__WRITE_bp 2
#define TOE_REGS__QP_COMMAND__WRITE_bw 1
#define TOE_REGS__QP_COMMAND__WRITE_reset 0x0

// reg - toe_regs.QP_STATE
#define TOE_REGS__QP_STATE__ATTACHED_bm 0x1
#define TOE_REGS__QP_STATE__ATTACHED_bp 0
#define TOE_REGS__QP_STATE__ATTACHED_bw 1
#define TOE_REGS__QP_STATE__DETACHED_bm 0x2
#define TOE_REGS__QP_STATE__DETACHED_bp 1
#define TOE_REGS__QP_STATE__DETACHED_bw 1
#define TOE_REGS__QP_STATE__HALTED_bm 0x4
#define TOE_REGS__QP_STATE__HALTED_bp 2
#define TOE_REGS__QP_STATE__HALTED_bw 1
#define TOE_REGS__QP_STATE__LISTENERS_bm 0xff00
#define TOE_REGS__QP_STATE__LISTENERS_bp 8
#define TOE_REGS__QP_STATE__LISTENERS_bw 8
#define TOE_REGS__QP_STATE__USED_bm 0xffff0000
#define TOE_REGS__QP_STATE__USED_bp 16
#define TOE_REGS__QP_STATE__USED_bw 16

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
    uint8_t RESERVED_84_ff[0x7c];
    uint32_t IPV6_LINK[4];
    uint32_t SECRET[4];
    uint32_t HASH_KEY[12];
    uint32_t RUN;
    uint32_t READY;
    uint32_t CC;
    uint8_t RESERVED_15c_17f[0x24];
    uint32_t QP_SELECT;
    uint32_t QP_AREA_LO;
    uint32_t QP_AREA_HI;
    uint32_t QP_RINGS;
    uint32_t QP_BUFFERS;
    uint32_t QP_FIRST;
    uint32_t QP_STATUS_AT;
    uint32_t QP_SW_AT;
    uint32_t QP_HW_AT;
    uint32_t QP_RECORDS_AT;
    uint32_t QP_ADDRESSES_AT;
    uint32_t QP_BUFFERS_AT;
    uint32_t QP_COMMAND;
    uint32_t QP_STATE;
    uint8_t RESERVED_1b8_7ff[0x648];
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
    REG("MAC_LO", 0x30, 4, 1, 0x4, "rw", "") \
    REG("MAC_HI", 0x34, 4, 1, 0x4, "rw", "") \
    REG("MTU", 0x38, 4, 1, 0x4, "rw", "") \
    REG("IPV4", 0x40, 4, 1, 0x4, "rw", "") \
    REG("IPV4_PREFIX", 0x44, 4, 1, 0x4, "rw", "") \
    REG("IPV4_GATEWAY", 0x48, 4, 1, 0x4, "rw", "") \
    REG("IPV6", 0x50, 4, 4, 0x4, "rw", "") \
    REG("IPV6_PREFIX", 0x60, 4, 1, 0x4, "rw", "") \
    REG("IPV6_GATEWAY", 0x70, 4, 4, 0x4, "rw", "") \
    REG("RESET", 0x80, 4, 1, 0x4, "w", "") \
    REG("IPV6_LINK", 0x100, 4, 4, 0x4, "rw", "") \
    REG("SECRET", 0x110, 4, 4, 0x4, "w", "") \
    REG("HASH_KEY", 0x120, 4, 12, 0x4, "w", "") \
    REG("RUN", 0x150, 4, 1, 0x4, "rw", "1 lets it run") \
    REG("READY", 0x154, 4, 1, 0x4, "r", "") \
    REG("CC", 0x158, 4, 1, 0x4, "rw", "congestion control of flows to come; OPTION CC changes a flow's") \
    REG("QP_SELECT", 0x180, 4, 1, 0x4, "rw", "") \
    REG("QP_AREA_LO", 0x184, 4, 1, 0x4, "rw", "") \
    REG("QP_AREA_HI", 0x188, 4, 1, 0x4, "rw", "") \
    REG("QP_RINGS", 0x18c, 4, 1, 0x4, "rw", "") \
    REG("QP_BUFFERS", 0x190, 4, 1, 0x4, "rw", "") \
    REG("QP_FIRST", 0x194, 4, 1, 0x4, "rw", "") \
    REG("QP_STATUS_AT", 0x198, 4, 1, 0x4, "rw", "") \
    REG("QP_SW_AT", 0x19c, 4, 1, 0x4, "rw", "") \
    REG("QP_HW_AT", 0x1a0, 4, 1, 0x4, "rw", "") \
    REG("QP_RECORDS_AT", 0x1a4, 4, 1, 0x4, "rw", "") \
    REG("QP_ADDRESSES_AT", 0x1a8, 4, 1, 0x4, "rw", "") \
    REG("QP_BUFFERS_AT", 0x1ac, 4, 1, 0x4, "rw", "") \
    REG("QP_COMMAND", 0x1b0, 4, 1, 0x4, "rw", "of the queue pair QP_SELECT") \
    REG("QP_STATE", 0x1b4, 4, 1, 0x4, "r", "of the queue pair QP_SELECT") \
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
    FIELD("FEATURES", "move", 9, 1, "MOVE command") \
    FIELD("FEATURES", "card", 10, 1, "a card: page 0 is written, and has the registers from 0x100 to 0x1ff") \
    FIELD("FEATURES", "cubic", 11, 1, "CUBIC congestion control") \
    FIELD("FEATURES", "ecn", 12, 1, "explicit congestion notification") \
    FIELD("FEATURES", "fastopen", 13, 1, "Fast Open") \
    FIELD("FEATURES", "urgent", 14, 1, "urgent data") \
    FIELD("FEATURES", "pacing", 15, 1, "pacing") \
    FIELD("FEATURES", "pmtud", 16, 1, "path MTU discovery") \
    FIELD("QP_RINGS", "sw_log", 0, 5, "log2 of the SW ring's entries") \
    FIELD("QP_RINGS", "hw_log", 8, 5, "log2 of the HW ring's entries") \
    FIELD("QP_RINGS", "slots_log", 16, 5, "log2 of its slots") \
    FIELD("QP_BUFFERS", "tx_log", 0, 5, "log2 of a send buffer's bytes") \
    FIELD("QP_BUFFERS", "rx_log", 8, 5, "log2 of a receive buffer's bytes") \
    FIELD("QP_BUFFERS", "addresses", 16, 13, "entries of its address table") \
    FIELD("QP_COMMAND", "enable", 0, 1, "it is there") \
    FIELD("QP_COMMAND", "detach", 1, 1, "its flows are to be reset, before enable becomes 0") \
    FIELD("QP_COMMAND", "write", 2, 1, "what stands in the registers before becomes the queue pair's") \
    FIELD("QP_STATE", "attached", 0, 1, "its slots are there") \
    FIELD("QP_STATE", "detached", 1, 1, "its flows are reset") \
    FIELD("QP_STATE", "halted", 2, 1, "halted: a head or a tail of the host's was wrong, or a command's phase") \
    FIELD("QP_STATE", "listeners", 8, 8, "listeners") \
    FIELD("QP_STATE", "used", 16, 16, "slots that hold a flow")

#endif /* TOE_REGS_H */
