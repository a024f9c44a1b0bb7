/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip_regs.h - Chip: one processor. Made by device/gen_regs.py from device/chip.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 a27b2567761e9d0594689eed6b62075e0c6eb3138643248d5fcdd6e2b4430ff7
 * text sha256   186c194625c50d617b9017b378f8cf2139860eaad2d0ea91bf300e70600afc31
 */
/* clang-format off */
#ifndef CHIP_REGS_H
#define CHIP_REGS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stdint.h>
#include <assert.h>

// reg - chip_regs.BLOCK.TYPE
#define CHIP_REGS__BLOCK__TYPE__V_bm 0xffffffff
#define CHIP_REGS__BLOCK__TYPE__V_bp 0
#define CHIP_REGS__BLOCK__TYPE__V_bw 32
#define CHIP_REGS__BLOCK__TYPE__V_reset 0x50494843

// reg - chip_regs.BLOCK.VERSION
#define CHIP_REGS__BLOCK__VERSION__MINOR_bm 0xffff
#define CHIP_REGS__BLOCK__VERSION__MINOR_bp 0
#define CHIP_REGS__BLOCK__VERSION__MINOR_bw 16
#define CHIP_REGS__BLOCK__VERSION__MINOR_reset 0x0
#define CHIP_REGS__BLOCK__VERSION__MAJOR_bm 0xffff0000
#define CHIP_REGS__BLOCK__VERSION__MAJOR_bp 16
#define CHIP_REGS__BLOCK__VERSION__MAJOR_bw 16
#define CHIP_REGS__BLOCK__VERSION__MAJOR_reset 0x1

// reg - chip_regs.BLOCK.SIZE
#define CHIP_REGS__BLOCK__SIZE__V_bm 0xffffffff
#define CHIP_REGS__BLOCK__SIZE__V_bp 0
#define CHIP_REGS__BLOCK__SIZE__V_bw 32
#define CHIP_REGS__BLOCK__SIZE__V_reset 0x80

// reg - chip_regs.BLOCK.NEXT
#define CHIP_REGS__BLOCK__NEXT__V_bm 0xffffffff
#define CHIP_REGS__BLOCK__NEXT__V_bp 0
#define CHIP_REGS__BLOCK__NEXT__V_bw 32

// regfile - chip_regs.BLOCK
typedef struct __attribute__ ((__packed__)) {
    uint32_t TYPE;
    uint32_t VERSION;
    uint32_t SIZE;
    uint32_t NEXT;
} chip_regs__BLOCK_t;

// reg - chip_regs.NOW_LOW
#define CHIP_REGS__NOW_LOW__V_bm 0xffffffff
#define CHIP_REGS__NOW_LOW__V_bp 0
#define CHIP_REGS__NOW_LOW__V_bw 32

// reg - chip_regs.NOW_HIGH
#define CHIP_REGS__NOW_HIGH__V_bm 0xffffffff
#define CHIP_REGS__NOW_HIGH__V_bp 0
#define CHIP_REGS__NOW_HIGH__V_bw 32

// reg - chip_regs.WAKE_LOW
#define CHIP_REGS__WAKE_LOW__V_bm 0xffffffff
#define CHIP_REGS__WAKE_LOW__V_bp 0
#define CHIP_REGS__WAKE_LOW__V_bw 32
#define CHIP_REGS__WAKE_LOW__V_reset 0x0

// reg - chip_regs.WAKE_HIGH
#define CHIP_REGS__WAKE_HIGH__V_bm 0xffffffff
#define CHIP_REGS__WAKE_HIGH__V_bp 0
#define CHIP_REGS__WAKE_HIGH__V_bw 32
#define CHIP_REGS__WAKE_HIGH__V_reset 0x0

// reg - chip_regs.PENDING
#define CHIP_REGS__PENDING__BELL_bm 0x1
#define CHIP_REGS__PENDING__BELL_bp 0
#define CHIP_REGS__PENDING__BELL_bw 1
#define CHIP_REGS__PENDING__FRAME_bm 0x2
#define CHIP_REGS__PENDING__FRAME_bp 1
#define CHIP_REGS__PENDING__FRAME_bw 1
#define CHIP_REGS__PENDING__TIMER_bm 0x8
#define CHIP_REGS__PENDING__TIMER_bp 3
#define CHIP_REGS__PENDING__TIMER_bw 1

// reg - chip_regs.BELL
#define CHIP_REGS__BELL__V_bm 0x1
#define CHIP_REGS__BELL__V_bp 0
#define CHIP_REGS__BELL__V_bw 1
#define CHIP_REGS__BELL__V_reset 0x0

// reg - chip_regs.BELL_CLEAR
#define CHIP_REGS__BELL_CLEAR__V_bm 0x1
#define CHIP_REGS__BELL_CLEAR__V_bp 0
#define CHIP_REGS__BELL_CLEAR__V_bw 1
#define CHIP_REGS__BELL_CLEAR__V_reset 0x0

// reg - chip_regs.RX_HEAD
#define CHIP_REGS__RX_HEAD__V_bm 0xffffffff
#define CHIP_REGS__RX_HEAD__V_bp 0
#define CHIP_REGS__RX_HEAD__V_bw 32

// reg - chip_regs.RX_TAIL
#define CHIP_REGS__RX_TAIL__V_bm 0xffffffff
#define CHIP_REGS__RX_TAIL__V_bp 0
#define CHIP_REGS__RX_TAIL__V_bw 32
#define CHIP_REGS__RX_TAIL__V_reset 0x0

// reg - chip_regs.RX_LENGTH
#define CHIP_REGS__RX_LENGTH__V_bm 0xfff
#define CHIP_REGS__RX_LENGTH__V_bp 0
#define CHIP_REGS__RX_LENGTH__V_bw 12

// reg - chip_regs.RX_BAD
#define CHIP_REGS__RX_BAD__V_bm 0xffffffff
#define CHIP_REGS__RX_BAD__V_bp 0
#define CHIP_REGS__RX_BAD__V_bw 32

// reg - chip_regs.RX_FULL
#define CHIP_REGS__RX_FULL__V_bm 0xffffffff
#define CHIP_REGS__RX_FULL__V_bp 0
#define CHIP_REGS__RX_FULL__V_bw 32

// reg - chip_regs.TX_UNDERRUN
#define CHIP_REGS__TX_UNDERRUN__V_bm 0xffffffff
#define CHIP_REGS__TX_UNDERRUN__V_bp 0
#define CHIP_REGS__TX_UNDERRUN__V_bw 32

// addrmap - chip_regs
typedef struct __attribute__ ((__packed__)) {
    chip_regs__BLOCK_t BLOCK;
    uint32_t NOW_LOW;
    uint32_t NOW_HIGH;
    uint32_t WAKE_LOW;
    uint32_t WAKE_HIGH;
    uint32_t PENDING;
    uint32_t BELL;
    uint32_t BELL_CLEAR;
    uint8_t RESERVED_2c_3f[0x14];
    uint32_t RX_HEAD;
    uint32_t RX_TAIL;
    uint32_t RX_LENGTH;
    uint8_t RESERVED_4c_4f[0x4];
    uint32_t RX_BAD;
    uint32_t RX_FULL;
    uint32_t TX_UNDERRUN;
} chip_regs_t;


static_assert(sizeof(chip_regs_t) == 0x5c, "Packing error");

#ifdef __cplusplus
}
#endif

/* REG(name, offset, bytes, count, stride, access, text): an array has its count */
#define CHIP_REGS_TABLE(REG) \
    REG("BLOCK.TYPE", 0x0, 4, 1, 0x4, "r", "what the block is: four letters, the first in bits 7:0") \
    REG("BLOCK.VERSION", 0x4, 4, 1, 0x4, "r", "of the block's registers; major changes are those that old tools cannot read") \
    REG("BLOCK.SIZE", 0x8, 4, 1, 0x4, "r", "bytes of the block") \
    REG("BLOCK.NEXT", 0xc, 4, 1, 0x4, "r", "offset of the next block from the start of the window; 0: this is the last") \
    REG("NOW_LOW", 0x10, 4, 1, 0x4, "r", "nanoseconds, bits 31:0") \
    REG("NOW_HIGH", 0x14, 4, 1, 0x4, "r", "bits 63:32; read before and after NOW_LOW, and again when it changed") \
    REG("WAKE_LOW", 0x18, 4, 1, 0x4, "rw", "fast interrupt 3 while the time is at or behind WAKE, bits 31:0") \
    REG("WAKE_HIGH", 0x1c, 4, 1, 0x4, "rw", "bits 63:32; all ones while the other half is written") \
    REG("PENDING", 0x20, 4, 1, 0x4, "r", "what waits") \
    REG("BELL", 0x24, 4, 1, 0x4, "w", "rings the other processor's bell") \
    REG("BELL_CLEAR", 0x28, 4, 1, 0x4, "w", "clears PENDING.bell") \
    REG("RX_HEAD", 0x40, 4, 1, 0x4, "r", "frames received, free-running") \
    REG("RX_TAIL", 0x44, 4, 1, 0x4, "rw", "frames handled, free-running: their buffers are free") \
    REG("RX_LENGTH", 0x48, 4, 1, 0x4, "r", "bytes of the frame RX_TAIL, without its FCS") \
    REG("RX_BAD", 0x50, 4, 1, 0x4, "r", "frames dropped: wrong FCS, an error of the PHY, shorter than 64 or longer than 2048 bytes") \
    REG("RX_FULL", 0x54, 4, 1, 0x4, "r", "frames dropped: no free buffer") \
    REG("TX_UNDERRUN", 0x58, 4, 1, 0x4, "r", "frames sent with an error, as their bytes came too late")

/* FIELD(register, name, low bit, bits, text), of registers with more than one */
#define CHIP_REGS_FIELDS(FIELD) \
    FIELD("BLOCK.VERSION", "minor", 0, 16, "changes that add") \
    FIELD("BLOCK.VERSION", "major", 16, 16, "changes that old tools cannot read") \
    FIELD("PENDING", "bell", 0, 1, "the other processor has written BELL (fast interrupt 0)") \
    FIELD("PENDING", "frame", 1, 1, "a frame waits (fast interrupt 1)") \
    FIELD("PENDING", "timer", 3, 1, "WAKE has come (fast interrupt 3)")

#endif /* CHIP_REGS_H */
