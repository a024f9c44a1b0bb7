/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hyb_regs.h - Hybrid TOE. Made by device/gen_regs.py from device/hyb.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 e624b6e6a0509f2dcd34eb1d3fff7ff0c9e9f9b4ffab240dafd473fe01ef1908
 * text sha256   0440251d82919c5889b9e0d1396e53de306f7208b363def24869cf3220fff04c
 */
/* clang-format off */
#ifndef HYB_REGS_H
#define HYB_REGS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stdint.h>
#include <assert.h>

// reg - hyb_regs.BLOCK.TYPE
#define HYB_REGS__BLOCK__TYPE__V_bm 0xffffffff
#define HYB_REGS__BLOCK__TYPE__V_bp 0
#define HYB_REGS__BLOCK__TYPE__V_bw 32
#define HYB_REGS__BLOCK__TYPE__V_reset 0x52425948

// reg - hyb_regs.BLOCK.VERSION
#define HYB_REGS__BLOCK__VERSION__MINOR_bm 0xffff
#define HYB_REGS__BLOCK__VERSION__MINOR_bp 0
#define HYB_REGS__BLOCK__VERSION__MINOR_bw 16
#define HYB_REGS__BLOCK__VERSION__MINOR_reset 0x0
#define HYB_REGS__BLOCK__VERSION__MAJOR_bm 0xffff0000
#define HYB_REGS__BLOCK__VERSION__MAJOR_bp 16
#define HYB_REGS__BLOCK__VERSION__MAJOR_bw 16
#define HYB_REGS__BLOCK__VERSION__MAJOR_reset 0x1

// reg - hyb_regs.BLOCK.SIZE
#define HYB_REGS__BLOCK__SIZE__V_bm 0xffffffff
#define HYB_REGS__BLOCK__SIZE__V_bp 0
#define HYB_REGS__BLOCK__SIZE__V_bw 32
#define HYB_REGS__BLOCK__SIZE__V_reset 0x100

// reg - hyb_regs.BLOCK.NEXT
#define HYB_REGS__BLOCK__NEXT__V_bm 0xffffffff
#define HYB_REGS__BLOCK__NEXT__V_bp 0
#define HYB_REGS__BLOCK__NEXT__V_bw 32

// regfile - hyb_regs.BLOCK
typedef struct __attribute__ ((__packed__)) {
    uint32_t TYPE;
    uint32_t VERSION;
    uint32_t SIZE;
    uint32_t NEXT;
} hyb_regs__BLOCK_t;

// reg - hyb_regs.CYCLES_LOW
#define HYB_REGS__CYCLES_LOW__V_bm 0xffffffff
#define HYB_REGS__CYCLES_LOW__V_bp 0
#define HYB_REGS__CYCLES_LOW__V_bw 32

// reg - hyb_regs.CYCLES_HIGH
#define HYB_REGS__CYCLES_HIGH__V_bm 0xffffffff
#define HYB_REGS__CYCLES_HIGH__V_bp 0
#define HYB_REGS__CYCLES_HIGH__V_bw 32

// reg - hyb_regs.MEMORY
#define HYB_REGS__MEMORY__INSTR_bm 0xffff
#define HYB_REGS__MEMORY__INSTR_bp 0
#define HYB_REGS__MEMORY__INSTR_bw 16
#define HYB_REGS__MEMORY__DATA_bm 0xffff0000
#define HYB_REGS__MEMORY__DATA_bp 16
#define HYB_REGS__MEMORY__DATA_bw 16

// reg - hyb_regs.CONSOLE
#define HYB_REGS__CONSOLE__C_bm 0xff
#define HYB_REGS__CONSOLE__C_bp 0
#define HYB_REGS__CONSOLE__C_bw 8
#define HYB_REGS__CONSOLE__C_reset 0x0

// reg - hyb_regs.EXIT
#define HYB_REGS__EXIT__CODE_bm 0xff
#define HYB_REGS__EXIT__CODE_bp 0
#define HYB_REGS__EXIT__CODE_bw 8
#define HYB_REGS__EXIT__CODE_reset 0x0

// reg - hyb_regs.RAISE
#define HYB_REGS__RAISE__V_bm 0x7fff
#define HYB_REGS__RAISE__V_bp 0
#define HYB_REGS__RAISE__V_bw 15
#define HYB_REGS__RAISE__V_reset 0x0

// addrmap - hyb_regs
typedef struct __attribute__ ((__packed__)) {
    hyb_regs__BLOCK_t BLOCK;
    uint32_t CYCLES_LOW;
    uint32_t CYCLES_HIGH;
    uint32_t MEMORY;
    uint8_t RESERVED_1c_1f[0x4];
    uint32_t CONSOLE;
    uint32_t EXIT;
    uint32_t RAISE;
} hyb_regs_t;


static_assert(sizeof(hyb_regs_t) == 0x2c, "Packing error");

#ifdef __cplusplus
}
#endif

/* REG(name, offset, bytes, count, stride, access, text): an array has its count */
#define HYB_REGS_TABLE(REG) \
    REG("BLOCK.TYPE", 0x0, 4, 1, 0x4, "r", "what the block is: four letters, the first in bits 7:0") \
    REG("BLOCK.VERSION", 0x4, 4, 1, 0x4, "r", "of the block's registers; major changes are those that old tools cannot read") \
    REG("BLOCK.SIZE", 0x8, 4, 1, 0x4, "r", "bytes of the block") \
    REG("BLOCK.NEXT", 0xc, 4, 1, 0x4, "r", "offset of the next block from the start of the window; 0: this is the last") \
    REG("CYCLES_LOW", 0x10, 4, 1, 0x4, "r", "cycles since reset, bits 31:0") \
    REG("CYCLES_HIGH", 0x14, 4, 1, 0x4, "r", "bits 63:32; read before and after CYCLES_LOW, and again when it changed") \
    REG("MEMORY", 0x18, 4, 1, 0x4, "r", "sizes of the memories") \
    REG("CONSOLE", 0x20, 4, 1, 0x4, "w", "console: each write prints a character; always ready") \
    REG("EXIT", 0x24, 4, 1, 0x4, "w", "ends the simulation") \
    REG("RAISE", 0x28, 4, 1, 0x4, "rw", "raises fast interrupts of the processor while a bit is 1")

/* FIELD(register, name, low bit, bits, text), of registers with more than one */
#define HYB_REGS_FIELDS(FIELD) \
    FIELD("BLOCK.VERSION", "minor", 0, 16, "changes that add") \
    FIELD("BLOCK.VERSION", "major", 16, 16, "changes that old tools cannot read") \
    FIELD("MEMORY", "instr", 0, 16, "bytes of instruction memory, in KiB") \
    FIELD("MEMORY", "data", 16, 16, "bytes of data memory, in KiB")

#endif /* HYB_REGS_H */
