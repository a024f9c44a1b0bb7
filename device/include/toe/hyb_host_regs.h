/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hyb_host_regs.h - Hybrid TOE: host and link. Made by device/gen_regs.py from device/hyb_host.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 b87b4edd530ebc57bd5c5ff9d30acefc421f8921967d5d39476379f73a5d40d2
 * text sha256   603e3ad7ddef820dce9566b9cdca2b3df29aefce526c82e6af10803a990ee965
 */
/* clang-format off */
#ifndef HYB_HOST_REGS_H
#define HYB_HOST_REGS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stdint.h>
#include <assert.h>

// reg - hyb_host_regs.BLOCK.TYPE
#define HYB_HOST_REGS__BLOCK__TYPE__V_bm 0xffffffff
#define HYB_HOST_REGS__BLOCK__TYPE__V_bp 0
#define HYB_HOST_REGS__BLOCK__TYPE__V_bw 32
#define HYB_HOST_REGS__BLOCK__TYPE__V_reset 0x48425948

// reg - hyb_host_regs.BLOCK.VERSION
#define HYB_HOST_REGS__BLOCK__VERSION__MINOR_bm 0xffff
#define HYB_HOST_REGS__BLOCK__VERSION__MINOR_bp 0
#define HYB_HOST_REGS__BLOCK__VERSION__MINOR_bw 16
#define HYB_HOST_REGS__BLOCK__VERSION__MINOR_reset 0x0
#define HYB_HOST_REGS__BLOCK__VERSION__MAJOR_bm 0xffff0000
#define HYB_HOST_REGS__BLOCK__VERSION__MAJOR_bp 16
#define HYB_HOST_REGS__BLOCK__VERSION__MAJOR_bw 16
#define HYB_HOST_REGS__BLOCK__VERSION__MAJOR_reset 0x1

// reg - hyb_host_regs.BLOCK.SIZE
#define HYB_HOST_REGS__BLOCK__SIZE__V_bm 0xffffffff
#define HYB_HOST_REGS__BLOCK__SIZE__V_bp 0
#define HYB_HOST_REGS__BLOCK__SIZE__V_bw 32
#define HYB_HOST_REGS__BLOCK__SIZE__V_reset 0x200

// reg - hyb_host_regs.BLOCK.NEXT
#define HYB_HOST_REGS__BLOCK__NEXT__V_bm 0xffffffff
#define HYB_HOST_REGS__BLOCK__NEXT__V_bp 0
#define HYB_HOST_REGS__BLOCK__NEXT__V_bw 32

// regfile - hyb_host_regs.BLOCK
typedef struct __attribute__ ((__packed__)) {
    uint32_t TYPE;
    uint32_t VERSION;
    uint32_t SIZE;
    uint32_t NEXT;
} hyb_host_regs__BLOCK_t;

// reg - hyb_host_regs.NOW_LOW
#define HYB_HOST_REGS__NOW_LOW__V_bm 0xffffffff
#define HYB_HOST_REGS__NOW_LOW__V_bp 0
#define HYB_HOST_REGS__NOW_LOW__V_bw 32

// reg - hyb_host_regs.NOW_HIGH
#define HYB_HOST_REGS__NOW_HIGH__V_bm 0xffffffff
#define HYB_HOST_REGS__NOW_HIGH__V_bp 0
#define HYB_HOST_REGS__NOW_HIGH__V_bw 32

// reg - hyb_host_regs.WAKE_LOW
#define HYB_HOST_REGS__WAKE_LOW__V_bm 0xffffffff
#define HYB_HOST_REGS__WAKE_LOW__V_bp 0
#define HYB_HOST_REGS__WAKE_LOW__V_bw 32
#define HYB_HOST_REGS__WAKE_LOW__V_reset 0x0

// reg - hyb_host_regs.WAKE_HIGH
#define HYB_HOST_REGS__WAKE_HIGH__V_bm 0xffffffff
#define HYB_HOST_REGS__WAKE_HIGH__V_bp 0
#define HYB_HOST_REGS__WAKE_HIGH__V_bw 32
#define HYB_HOST_REGS__WAKE_HIGH__V_reset 0x0

// reg - hyb_host_regs.PENDING
#define HYB_HOST_REGS__PENDING__COMMAND_bm 0x1
#define HYB_HOST_REGS__PENDING__COMMAND_bp 0
#define HYB_HOST_REGS__PENDING__COMMAND_bw 1
#define HYB_HOST_REGS__PENDING__FRAME_bm 0x2
#define HYB_HOST_REGS__PENDING__FRAME_bp 1
#define HYB_HOST_REGS__PENDING__FRAME_bw 1
#define HYB_HOST_REGS__PENDING__QUEUE_PAIR_bm 0x4
#define HYB_HOST_REGS__PENDING__QUEUE_PAIR_bp 2
#define HYB_HOST_REGS__PENDING__QUEUE_PAIR_bw 1
#define HYB_HOST_REGS__PENDING__TIMER_bm 0x8
#define HYB_HOST_REGS__PENDING__TIMER_bp 3
#define HYB_HOST_REGS__PENDING__TIMER_bw 1
#define HYB_HOST_REGS__PENDING__FETCH_bm 0x100
#define HYB_HOST_REGS__PENDING__FETCH_bp 8
#define HYB_HOST_REGS__PENDING__FETCH_bw 1
#define HYB_HOST_REGS__PENDING__FETCH_REFUSED_bm 0x200
#define HYB_HOST_REGS__PENDING__FETCH_REFUSED_bp 9
#define HYB_HOST_REGS__PENDING__FETCH_REFUSED_bw 1
#define HYB_HOST_REGS__PENDING__WRITE_bm 0x400
#define HYB_HOST_REGS__PENDING__WRITE_bp 10
#define HYB_HOST_REGS__PENDING__WRITE_bw 1
#define HYB_HOST_REGS__PENDING__WRITING_bm 0x800
#define HYB_HOST_REGS__PENDING__WRITING_bp 11
#define HYB_HOST_REGS__PENDING__WRITING_bw 1
#define HYB_HOST_REGS__PENDING__ROOM_bm 0x1000
#define HYB_HOST_REGS__PENDING__ROOM_bp 12
#define HYB_HOST_REGS__PENDING__ROOM_bw 1
#define HYB_HOST_REGS__PENDING__ROOM_THERE_bm 0x2000
#define HYB_HOST_REGS__PENDING__ROOM_THERE_bp 13
#define HYB_HOST_REGS__PENDING__ROOM_THERE_bw 1

// reg - hyb_host_regs.READY
#define HYB_HOST_REGS__READY__V_bm 0x1
#define HYB_HOST_REGS__READY__V_bp 0
#define HYB_HOST_REGS__READY__V_bw 1
#define HYB_HOST_REGS__READY__V_reset 0x0

// reg - hyb_host_regs.MAC_LOW
#define HYB_HOST_REGS__MAC_LOW__V_bm 0xffffffff
#define HYB_HOST_REGS__MAC_LOW__V_bp 0
#define HYB_HOST_REGS__MAC_LOW__V_bw 32

// reg - hyb_host_regs.MAC_HIGH
#define HYB_HOST_REGS__MAC_HIGH__V_bm 0xffffffff
#define HYB_HOST_REGS__MAC_HIGH__V_bp 0
#define HYB_HOST_REGS__MAC_HIGH__V_bw 32

// reg - hyb_host_regs.IPV4
#define HYB_HOST_REGS__IPV4__V_bm 0xffffffff
#define HYB_HOST_REGS__IPV4__V_bp 0
#define HYB_HOST_REGS__IPV4__V_bw 32

// reg - hyb_host_regs.OWN
#define HYB_HOST_REGS__OWN__PREFIX_bm 0x3f
#define HYB_HOST_REGS__OWN__PREFIX_bp 0
#define HYB_HOST_REGS__OWN__PREFIX_bw 6
#define HYB_HOST_REGS__OWN__NEWRENO_bm 0x100
#define HYB_HOST_REGS__OWN__NEWRENO_bp 8
#define HYB_HOST_REGS__OWN__NEWRENO_bw 1
#define HYB_HOST_REGS__OWN__IP6_bm 0x200
#define HYB_HOST_REGS__OWN__IP6_bp 9
#define HYB_HOST_REGS__OWN__IP6_bw 1
#define HYB_HOST_REGS__OWN__IP6_PREFIX_bm 0xff0000
#define HYB_HOST_REGS__OWN__IP6_PREFIX_bp 16
#define HYB_HOST_REGS__OWN__IP6_PREFIX_bw 8

// reg - hyb_host_regs.IPV4_GATEWAY
#define HYB_HOST_REGS__IPV4_GATEWAY__V_bm 0xffffffff
#define HYB_HOST_REGS__IPV4_GATEWAY__V_bp 0
#define HYB_HOST_REGS__IPV4_GATEWAY__V_bw 32

// reg - hyb_host_regs.MTU
#define HYB_HOST_REGS__MTU__V_bm 0xffffffff
#define HYB_HOST_REGS__MTU__V_bp 0
#define HYB_HOST_REGS__MTU__V_bw 32

// reg - hyb_host_regs.IPV6[]
#define HYB_HOST_REGS__IPV6X__V_bm 0xffffffff
#define HYB_HOST_REGS__IPV6X__V_bp 0
#define HYB_HOST_REGS__IPV6X__V_bw 32

// reg - hyb_host_regs.IPV6_GATEWAY[]
#define HYB_HOST_REGS__IPV6_GATEWAYX__V_bm 0xffffffff
#define HYB_HOST_REGS__IPV6_GATEWAYX__V_bp 0
#define HYB_HOST_REGS__IPV6_GATEWAYX__V_bw 32

// reg - hyb_host_regs.SECRET[]
#define HYB_HOST_REGS__SECRETX__V_bm 0xffffffff
#define HYB_HOST_REGS__SECRETX__V_bp 0
#define HYB_HOST_REGS__SECRETX__V_bw 32

// reg - hyb_host_regs.QP_TO_ATTACH
#define HYB_HOST_REGS__QP_TO_ATTACH__V_bm 0xff
#define HYB_HOST_REGS__QP_TO_ATTACH__V_bp 0
#define HYB_HOST_REGS__QP_TO_ATTACH__V_bw 8

// reg - hyb_host_regs.QP_TO_RESET
#define HYB_HOST_REGS__QP_TO_RESET__V_bm 0xff
#define HYB_HOST_REGS__QP_TO_RESET__V_bp 0
#define HYB_HOST_REGS__QP_TO_RESET__V_bw 8

// reg - hyb_host_regs.QP_ATTACHED
#define HYB_HOST_REGS__QP_ATTACHED__V_bm 0xff
#define HYB_HOST_REGS__QP_ATTACHED__V_bp 0
#define HYB_HOST_REGS__QP_ATTACHED__V_bw 8
#define HYB_HOST_REGS__QP_ATTACHED__V_reset 0x0

// reg - hyb_host_regs.QP_RESET
#define HYB_HOST_REGS__QP_RESET__V_bm 0xff
#define HYB_HOST_REGS__QP_RESET__V_bp 0
#define HYB_HOST_REGS__QP_RESET__V_bw 8
#define HYB_HOST_REGS__QP_RESET__V_reset 0x0

// reg - hyb_host_regs.QP_SELECT
#define HYB_HOST_REGS__QP_SELECT__V_bm 0x7
#define HYB_HOST_REGS__QP_SELECT__V_bp 0
#define HYB_HOST_REGS__QP_SELECT__V_bw 3
#define HYB_HOST_REGS__QP_SELECT__V_reset 0x0

// reg - hyb_host_regs.QP_SIZES
#define HYB_HOST_REGS__QP_SIZES__SLOTS_LOG_bm 0x1f
#define HYB_HOST_REGS__QP_SIZES__SLOTS_LOG_bp 0
#define HYB_HOST_REGS__QP_SIZES__SLOTS_LOG_bw 5
#define HYB_HOST_REGS__QP_SIZES__TX_LOG_bm 0x1f00
#define HYB_HOST_REGS__QP_SIZES__TX_LOG_bp 8
#define HYB_HOST_REGS__QP_SIZES__TX_LOG_bw 5
#define HYB_HOST_REGS__QP_SIZES__RX_LOG_bm 0x1f0000
#define HYB_HOST_REGS__QP_SIZES__RX_LOG_bp 16
#define HYB_HOST_REGS__QP_SIZES__RX_LOG_bw 5

// reg - hyb_host_regs.QP_FIRST
#define HYB_HOST_REGS__QP_FIRST__V_bm 0xffff
#define HYB_HOST_REGS__QP_FIRST__V_bp 0
#define HYB_HOST_REGS__QP_FIRST__V_bw 16

// reg - hyb_host_regs.QP_USED
#define HYB_HOST_REGS__QP_USED__USED_bm 0xffff
#define HYB_HOST_REGS__QP_USED__USED_bp 0
#define HYB_HOST_REGS__QP_USED__USED_bw 16
#define HYB_HOST_REGS__QP_USED__USED_reset 0x0
#define HYB_HOST_REGS__QP_USED__LISTENERS_bm 0xff0000
#define HYB_HOST_REGS__QP_USED__LISTENERS_bp 16
#define HYB_HOST_REGS__QP_USED__LISTENERS_bw 8
#define HYB_HOST_REGS__QP_USED__LISTENERS_reset 0x0

// reg - hyb_host_regs.CMD[]
#define HYB_HOST_REGS__CMDX__V_bm 0xffffffff
#define HYB_HOST_REGS__CMDX__V_bp 0
#define HYB_HOST_REGS__CMDX__V_bw 32

// reg - hyb_host_regs.CMD_POSITION
#define HYB_HOST_REGS__CMD_POSITION__V_bm 0xffffffff
#define HYB_HOST_REGS__CMD_POSITION__V_bp 0
#define HYB_HOST_REGS__CMD_POSITION__V_bw 32

// reg - hyb_host_regs.CMD_ABOUT
#define HYB_HOST_REGS__CMD_ABOUT__QP_bm 0x3f
#define HYB_HOST_REGS__CMD_ABOUT__QP_bp 0
#define HYB_HOST_REGS__CMD_ABOUT__QP_bw 6

// reg - hyb_host_regs.CMD_END
#define HYB_HOST_REGS__CMD_END__DONE_bm 0x1
#define HYB_HOST_REGS__CMD_END__DONE_bp 0
#define HYB_HOST_REGS__CMD_END__DONE_bw 1
#define HYB_HOST_REGS__CMD_END__DONE_reset 0x0

// reg - hyb_host_regs.CMD_ENTRY[]
#define HYB_HOST_REGS__CMD_ENTRYX__V_bm 0xffffffff
#define HYB_HOST_REGS__CMD_ENTRYX__V_bp 0
#define HYB_HOST_REGS__CMD_ENTRYX__V_bw 32

// reg - hyb_host_regs.WRITE_FLOW
#define HYB_HOST_REGS__WRITE_FLOW__QP_bm 0x3f
#define HYB_HOST_REGS__WRITE_FLOW__QP_bp 0
#define HYB_HOST_REGS__WRITE_FLOW__QP_bw 6
#define HYB_HOST_REGS__WRITE_FLOW__QP_reset 0x0
#define HYB_HOST_REGS__WRITE_FLOW__SLOT_bm 0xffff0000
#define HYB_HOST_REGS__WRITE_FLOW__SLOT_bp 16
#define HYB_HOST_REGS__WRITE_FLOW__SLOT_bw 16
#define HYB_HOST_REGS__WRITE_FLOW__SLOT_reset 0x0

// reg - hyb_host_regs.WRITE_CMD[]
#define HYB_HOST_REGS__WRITE_CMDX__V_bm 0xffffffff
#define HYB_HOST_REGS__WRITE_CMDX__V_bp 0
#define HYB_HOST_REGS__WRITE_CMDX__V_bw 32
#define HYB_HOST_REGS__WRITE_CMDX__V_reset 0x0

// reg - hyb_host_regs.PEER_IPV4
#define HYB_HOST_REGS__PEER_IPV4__V_bm 0xffffffff
#define HYB_HOST_REGS__PEER_IPV4__V_bp 0
#define HYB_HOST_REGS__PEER_IPV4__V_bw 32
#define HYB_HOST_REGS__PEER_IPV4__V_reset 0x0

// reg - hyb_host_regs.PEER_PORTS
#define HYB_HOST_REGS__PEER_PORTS__REMOTE_bm 0xffff
#define HYB_HOST_REGS__PEER_PORTS__REMOTE_bp 0
#define HYB_HOST_REGS__PEER_PORTS__REMOTE_bw 16
#define HYB_HOST_REGS__PEER_PORTS__REMOTE_reset 0x0
#define HYB_HOST_REGS__PEER_PORTS__OWN_bm 0xffff0000
#define HYB_HOST_REGS__PEER_PORTS__OWN_bp 16
#define HYB_HOST_REGS__PEER_PORTS__OWN_bw 16
#define HYB_HOST_REGS__PEER_PORTS__OWN_reset 0x0

// reg - hyb_host_regs.PLACE_FROM
#define HYB_HOST_REGS__PLACE_FROM__OFFSET_bm 0x7ff
#define HYB_HOST_REGS__PLACE_FROM__OFFSET_bp 0
#define HYB_HOST_REGS__PLACE_FROM__OFFSET_bw 11
#define HYB_HOST_REGS__PLACE_FROM__OFFSET_reset 0x0
#define HYB_HOST_REGS__PLACE_FROM__BUFFER_bm 0xf0000
#define HYB_HOST_REGS__PLACE_FROM__BUFFER_bp 16
#define HYB_HOST_REGS__PLACE_FROM__BUFFER_bw 4
#define HYB_HOST_REGS__PLACE_FROM__BUFFER_reset 0x0

// reg - hyb_host_regs.PLACE_LENGTH
#define HYB_HOST_REGS__PLACE_LENGTH__V_bm 0xffff
#define HYB_HOST_REGS__PLACE_LENGTH__V_bp 0
#define HYB_HOST_REGS__PLACE_LENGTH__V_bw 16
#define HYB_HOST_REGS__PLACE_LENGTH__V_reset 0x0

// reg - hyb_host_regs.PLACE_TO
#define HYB_HOST_REGS__PLACE_TO__V_bm 0xffffffff
#define HYB_HOST_REGS__PLACE_TO__V_bp 0
#define HYB_HOST_REGS__PLACE_TO__V_bw 32
#define HYB_HOST_REGS__PLACE_TO__V_reset 0x0

// reg - hyb_host_regs.WRITE_GO
#define HYB_HOST_REGS__WRITE_GO__KIND_bm 0x3
#define HYB_HOST_REGS__WRITE_GO__KIND_bp 0
#define HYB_HOST_REGS__WRITE_GO__KIND_bw 2
#define HYB_HOST_REGS__WRITE_GO__KIND_reset 0x0
#define HYB_HOST_REGS__WRITE_GO__ANSWERS_bm 0x100
#define HYB_HOST_REGS__WRITE_GO__ANSWERS_bp 8
#define HYB_HOST_REGS__WRITE_GO__ANSWERS_bw 1
#define HYB_HOST_REGS__WRITE_GO__ANSWERS_reset 0x0

// reg - hyb_host_regs.ROOM_ASK
#define HYB_HOST_REGS__ROOM_ASK__QP_bm 0x3f
#define HYB_HOST_REGS__ROOM_ASK__QP_bp 0
#define HYB_HOST_REGS__ROOM_ASK__QP_bw 6
#define HYB_HOST_REGS__ROOM_ASK__QP_reset 0x0

// reg - hyb_host_regs.FETCH_FLOW
#define HYB_HOST_REGS__FETCH_FLOW__QP_bm 0x3f
#define HYB_HOST_REGS__FETCH_FLOW__QP_bp 0
#define HYB_HOST_REGS__FETCH_FLOW__QP_bw 6
#define HYB_HOST_REGS__FETCH_FLOW__QP_reset 0x0
#define HYB_HOST_REGS__FETCH_FLOW__SLOT_bm 0xffff0000
#define HYB_HOST_REGS__FETCH_FLOW__SLOT_bp 16
#define HYB_HOST_REGS__FETCH_FLOW__SLOT_bw 16
#define HYB_HOST_REGS__FETCH_FLOW__SLOT_reset 0x0

// reg - hyb_host_regs.FETCH_FROM
#define HYB_HOST_REGS__FETCH_FROM__V_bm 0xffffffff
#define HYB_HOST_REGS__FETCH_FROM__V_bp 0
#define HYB_HOST_REGS__FETCH_FROM__V_bw 32
#define HYB_HOST_REGS__FETCH_FROM__V_reset 0x0

// reg - hyb_host_regs.FETCH_TO
#define HYB_HOST_REGS__FETCH_TO__V_bm 0x7fff
#define HYB_HOST_REGS__FETCH_TO__V_bp 0
#define HYB_HOST_REGS__FETCH_TO__V_bw 15
#define HYB_HOST_REGS__FETCH_TO__V_reset 0x0

// reg - hyb_host_regs.FETCH_GO
#define HYB_HOST_REGS__FETCH_GO__LENGTH_bm 0xfff
#define HYB_HOST_REGS__FETCH_GO__LENGTH_bp 0
#define HYB_HOST_REGS__FETCH_GO__LENGTH_bw 12
#define HYB_HOST_REGS__FETCH_GO__LENGTH_reset 0x0

// reg - hyb_host_regs.RX_HEAD
#define HYB_HOST_REGS__RX_HEAD__V_bm 0xffffffff
#define HYB_HOST_REGS__RX_HEAD__V_bp 0
#define HYB_HOST_REGS__RX_HEAD__V_bw 32

// reg - hyb_host_regs.RX_TAIL
#define HYB_HOST_REGS__RX_TAIL__V_bm 0xffffffff
#define HYB_HOST_REGS__RX_TAIL__V_bp 0
#define HYB_HOST_REGS__RX_TAIL__V_bw 32
#define HYB_HOST_REGS__RX_TAIL__V_reset 0x0

// reg - hyb_host_regs.RX_LENGTH
#define HYB_HOST_REGS__RX_LENGTH__V_bm 0xfff
#define HYB_HOST_REGS__RX_LENGTH__V_bp 0
#define HYB_HOST_REGS__RX_LENGTH__V_bw 12

// reg - hyb_host_regs.TX_HEAD
#define HYB_HOST_REGS__TX_HEAD__V_bm 0xffffffff
#define HYB_HOST_REGS__TX_HEAD__V_bp 0
#define HYB_HOST_REGS__TX_HEAD__V_bw 32

// reg - hyb_host_regs.TX_TAIL
#define HYB_HOST_REGS__TX_TAIL__V_bm 0xffffffff
#define HYB_HOST_REGS__TX_TAIL__V_bp 0
#define HYB_HOST_REGS__TX_TAIL__V_bw 32

// reg - hyb_host_regs.TX_GO
#define HYB_HOST_REGS__TX_GO__LENGTH_bm 0xfff
#define HYB_HOST_REGS__TX_GO__LENGTH_bp 0
#define HYB_HOST_REGS__TX_GO__LENGTH_bw 12
#define HYB_HOST_REGS__TX_GO__LENGTH_reset 0x0

// addrmap - hyb_host_regs
typedef struct __attribute__ ((__packed__)) {
    hyb_host_regs__BLOCK_t BLOCK;
    uint32_t NOW_LOW;
    uint32_t NOW_HIGH;
    uint32_t WAKE_LOW;
    uint32_t WAKE_HIGH;
    uint32_t PENDING;
    uint32_t READY;
    uint8_t RESERVED_28_2f[0x8];
    uint32_t MAC_LOW;
    uint32_t MAC_HIGH;
    uint32_t IPV4;
    uint32_t OWN;
    uint32_t IPV4_GATEWAY;
    uint32_t MTU;
    uint8_t RESERVED_48_4f[0x8];
    uint32_t IPV6[4];
    uint32_t IPV6_GATEWAY[4];
    uint32_t SECRET[8];
    uint8_t RESERVED_90_9f[0x10];
    uint32_t QP_TO_ATTACH;
    uint32_t QP_TO_RESET;
    uint32_t QP_ATTACHED;
    uint32_t QP_RESET;
    uint32_t QP_SELECT;
    uint32_t QP_SIZES;
    uint32_t QP_FIRST;
    uint32_t QP_USED;
    uint32_t CMD[4];
    uint32_t CMD_POSITION;
    uint32_t CMD_ABOUT;
    uint32_t CMD_END;
    uint8_t RESERVED_dc_df[0x4];
    uint32_t CMD_ENTRY[8];
    uint32_t WRITE_FLOW;
    uint8_t RESERVED_104_10f[0xc];
    uint32_t WRITE_CMD[4];
    uint32_t PEER_IPV4;
    uint32_t PEER_PORTS;
    uint32_t PLACE_FROM;
    uint32_t PLACE_LENGTH;
    uint32_t PLACE_TO;
    uint32_t WRITE_GO;
    uint32_t ROOM_ASK;
    uint8_t RESERVED_13c_13f[0x4];
    uint32_t FETCH_FLOW;
    uint32_t FETCH_FROM;
    uint32_t FETCH_TO;
    uint32_t FETCH_GO;
    uint8_t RESERVED_150_15f[0x10];
    uint32_t RX_HEAD;
    uint32_t RX_TAIL;
    uint32_t RX_LENGTH;
    uint8_t RESERVED_16c_16f[0x4];
    uint32_t TX_HEAD;
    uint32_t TX_TAIL;
    uint32_t TX_GO;
} hyb_host_regs_t;


static_assert(sizeof(hyb_host_regs_t) == 0x17c, "Packing error");

#ifdef __cplusplus
}
#endif

/* REG(name, offset, bytes, count, stride, access, text): an array has its count */
#define HYB_HOST_REGS_TABLE(REG) \
    REG("BLOCK.TYPE", 0x0, 4, 1, 0x4, "r", "what the block is: four letters, the first in bits 7:0") \
    REG("BLOCK.VERSION", 0x4, 4, 1, 0x4, "r", "of the block's registers; major changes are those that old tools cannot read") \
    REG("BLOCK.SIZE", 0x8, 4, 1, 0x4, "r", "bytes of the block") \
    REG("BLOCK.NEXT", 0xc, 4, 1, 0x4, "r", "offset of the next block from the start of the window; 0: this is the last") \
    REG("NOW_LOW", 0x10, 4, 1, 0x4, "r", "nanoseconds, bits 31:0") \
    REG("NOW_HIGH", 0x14, 4, 1, 0x4, "r", "bits 63:32; read before and after NOW_LOW, and again when it changed") \
    REG("WAKE_LOW", 0x18, 4, 1, 0x4, "rw", "fast interrupt 3 while the time is at or behind WAKE, bits 31:0") \
    REG("WAKE_HIGH", 0x1c, 4, 1, 0x4, "rw", "bits 63:32; all ones while the other half is written") \
    REG("PENDING", 0x20, 4, 1, 0x4, "r", "what waits for the firmware, and what it waits for") \
    REG("READY", 0x24, 4, 1, 0x4, "rw", "1: the stack runs, queue pairs may come") \
    REG("MAC_LOW", 0x30, 4, 1, 0x4, "r", "octets 0..3, the first in bits 7:0") \
    REG("MAC_HIGH", 0x34, 4, 1, 0x4, "r", "") \
    REG("IPV4", 0x38, 4, 1, 0x4, "r", "as a number") \
    REG("OWN", 0x3c, 4, 1, 0x4, "r", "of the addresses") \
    REG("IPV4_GATEWAY", 0x40, 4, 1, 0x4, "r", "") \
    REG("MTU", 0x44, 4, 1, 0x4, "r", "") \
    REG("IPV6", 0x50, 4, 4, 0x4, "r", "network byte order, four octets a word") \
    REG("IPV6_GATEWAY", 0x60, 4, 4, 0x4, "r", "") \
    REG("SECRET", 0x70, 4, 8, 0x4, "r", "random") \
    REG("QP_TO_ATTACH", 0xa0, 4, 1, 0x4, "r", "enabled, and not attached yet") \
    REG("QP_TO_RESET", 0xa4, 4, 1, 0x4, "r", "its host is gone, or has broken a ring: its flows are to be reset") \
    REG("QP_ATTACHED", 0xa8, 4, 1, 0x4, "w", "the firmware serves it, until it is disabled") \
    REG("QP_RESET", 0xac, 4, 1, 0x4, "w", "its flows are reset; neither fetch nor write of it follows, until it is disabled") \
    REG("QP_SELECT", 0xb0, 4, 1, 0x4, "rw", "the queue pair of the next two registers") \
    REG("QP_SIZES", 0xb4, 4, 1, 0x4, "r", "sizes of QP_SELECT") \
    REG("QP_FIRST", 0xb8, 4, 1, 0x4, "r", "flow of slot 0 of QP_SELECT") \
    REG("QP_USED", 0xbc, 4, 1, 0x4, "rw", "what the driver reads of QP_SELECT") \
    REG("CMD", 0xc0, 4, 4, 0x4, "r", "the command, bits 31:0 first") \
    REG("CMD_POSITION", 0xd0, 4, 1, 0x4, "r", "its position in the SW ring, for ERROR") \
    REG("CMD_ABOUT", 0xd4, 4, 1, 0x4, "r", "where it came from") \
    REG("CMD_END", 0xd8, 4, 1, 0x4, "w", "the command leaves the mailbox") \
    REG("CMD_ENTRY", 0xe0, 4, 8, 0x4, "r", "its entry of the address table (V6): remote address, own address; network byte order") \
    REG("WRITE_FLOW", 0x100, 4, 1, 0x4, "rw", "whose") \
    REG("WRITE_CMD", 0x110, 4, 4, 0x4, "rw", "an event without phase; slot, peer and port of *_ESTABLISHED are filled in") \
    REG("PEER_IPV4", 0x120, 4, 1, 0x4, "rw", "of *_ESTABLISHED: the peer's address as a number, 0: IPv6") \
    REG("PEER_PORTS", 0x124, 4, 1, 0x4, "rw", "of *_ESTABLISHED") \
    REG("PLACE_FROM", 0x128, 4, 1, 0x4, "rw", "source of payload") \
    REG("PLACE_LENGTH", 0x12c, 4, 1, 0x4, "rw", "length of payload") \
    REG("PLACE_TO", 0x130, 4, 1, 0x4, "rw", "offset in the stream; modulo the receive buffer") \
    REG("WRITE_GO", 0x134, 4, 1, 0x4, "w", "begins a write; only while PENDING.write is 0") \
    REG("ROOM_ASK", 0x138, 4, 1, 0x4, "w", "asks for room of one event in a HW ring") \
    REG("FETCH_FLOW", 0x140, 4, 1, 0x4, "rw", "whose send buffer") \
    REG("FETCH_FROM", 0x144, 4, 1, 0x4, "rw", "offset in the stream; modulo the send buffer") \
    REG("FETCH_TO", 0x148, 4, 1, 0x4, "rw", "destination") \
    REG("FETCH_GO", 0x14c, 4, 1, 0x4, "w", "begins a fetch; only while PENDING.fetch is 0") \
    REG("RX_HEAD", 0x160, 4, 1, 0x4, "r", "frames received, free-running") \
    REG("RX_TAIL", 0x164, 4, 1, 0x4, "rw", "frames handled, free-running: their buffers are free") \
    REG("RX_LENGTH", 0x168, 4, 1, 0x4, "r", "bytes of the frame RX_TAIL") \
    REG("TX_HEAD", 0x170, 4, 1, 0x4, "r", "frames given, free-running") \
    REG("TX_TAIL", 0x174, 4, 1, 0x4, "r", "frames sent, free-running: their slots are free") \
    REG("TX_GO", 0x178, 4, 1, 0x4, "w", "gives the frame in slot TX_HEAD")

/* FIELD(register, name, low bit, bits, text), of registers with more than one */
#define HYB_HOST_REGS_FIELDS(FIELD) \
    FIELD("BLOCK.VERSION", "minor", 0, 16, "changes that add") \
    FIELD("BLOCK.VERSION", "major", 16, 16, "changes that old tools cannot read") \
    FIELD("PENDING", "command", 0, 1, "a command waits (fast interrupt 0)") \
    FIELD("PENDING", "frame", 1, 1, "a frame waits (fast interrupt 1)") \
    FIELD("PENDING", "queue_pair", 2, 1, "a queue pair is to be attached or reset (fast interrupt 2)") \
    FIELD("PENDING", "timer", 3, 1, "WAKE has come (fast interrupt 3)") \
    FIELD("PENDING", "fetch", 8, 1, "a fetch is not over") \
    FIELD("PENDING", "fetch_refused", 9, 1, "the last fetch was refused: see FETCH_GO") \
    FIELD("PENDING", "write", 10, 1, "WRITE_GO may not be written") \
    FIELD("PENDING", "writing", 11, 1, "a write is not over: its source and PEER must stay") \
    FIELD("PENDING", "room", 12, 1, "ROOM_ASK has no answer yet") \
    FIELD("PENDING", "room_there", 13, 1, "the answer: the HW ring has room, which the next event takes") \
    FIELD("OWN", "prefix", 0, 6, "length of the on-link prefix") \
    FIELD("OWN", "newreno", 8, 1, "1 NewReno, 0 CUBIC") \
    FIELD("OWN", "ip6", 9, 1, "IPv6 is on") \
    FIELD("OWN", "ip6_prefix", 16, 8, "length of IPv6's prefix") \
    FIELD("QP_SIZES", "slots_log", 0, 5, "log2 of its slots") \
    FIELD("QP_SIZES", "tx_log", 8, 5, "log2 of a send buffer's bytes") \
    FIELD("QP_SIZES", "rx_log", 16, 5, "log2 of a receive buffer's bytes") \
    FIELD("QP_USED", "used", 0, 16, "slots that hold a flow") \
    FIELD("QP_USED", "listeners", 16, 8, "listeners") \
    FIELD("WRITE_FLOW", "qp", 0, 6, "queue pair") \
    FIELD("WRITE_FLOW", "slot", 16, 16, "slot") \
    FIELD("PEER_PORTS", "remote", 0, 16, "the peer's port") \
    FIELD("PEER_PORTS", "own", 16, 16, "ours") \
    FIELD("PLACE_FROM", "offset", 0, 11, "first byte in it") \
    FIELD("PLACE_FROM", "buffer", 16, 4, "RX buffer") \
    FIELD("WRITE_GO", "kind", 0, 2, "0 event; 1 payload; 2 the flow record from the window at 0x3c00_0000; 3 its first line again") \
    FIELD("WRITE_GO", "answers", 8, 1, "the event answers the command at hand, with the room that it holds") \
    FIELD("FETCH_FLOW", "qp", 0, 6, "queue pair") \
    FIELD("FETCH_FLOW", "slot", 16, 16, "slot")

#endif /* HYB_HOST_REGS_H */
