/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hyb_regs.h - Hybrid TOE. Made by device/gen_regs.py from device/hyb.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 64e9170a187166155019850a839ef1f9f415cc6254ab05c55a40ba99ef059680
 * text sha256   6a68aeb1118be5e80f7d8c06383860dc68a2fcf1645cfc0757591e4510783955
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
#define HYB_REGS__BLOCK__SIZE__V_reset 0x300

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

// reg - hyb_regs.UNITS
#define HYB_REGS__UNITS__SEND_bm 0x1
#define HYB_REGS__UNITS__SEND_bp 0
#define HYB_REGS__UNITS__SEND_bw 1
#define HYB_REGS__UNITS__HEADERS_bm 0x2
#define HYB_REGS__UNITS__HEADERS_bp 1
#define HYB_REGS__UNITS__HEADERS_bw 1

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

// reg - hyb_regs.MARKER
#define HYB_REGS__MARKER__V_bm 0xff
#define HYB_REGS__MARKER__V_bp 0
#define HYB_REGS__MARKER__V_bw 8
#define HYB_REGS__MARKER__V_reset 0x0

// reg - hyb_regs.READY
#define HYB_REGS__READY__V_bm 0x1
#define HYB_REGS__READY__V_bp 0
#define HYB_REGS__READY__V_bw 1

// reg - hyb_regs.ADDRESS
#define HYB_REGS__ADDRESS__V_bm 0xffffffff
#define HYB_REGS__ADDRESS__V_bp 0
#define HYB_REGS__ADDRESS__V_bw 32

// reg - hyb_regs.FREE
#define HYB_REGS__FREE__V_bm 0xffffffff
#define HYB_REGS__FREE__V_bp 0
#define HYB_REGS__FREE__V_bw 32
#define HYB_REGS__FREE__V_reset 0x0

// reg - hyb_regs.DFU_HOST_LOW
#define HYB_REGS__DFU_HOST_LOW__V_bm 0xffffffff
#define HYB_REGS__DFU_HOST_LOW__V_bp 0
#define HYB_REGS__DFU_HOST_LOW__V_bw 32
#define HYB_REGS__DFU_HOST_LOW__V_reset 0x0

// reg - hyb_regs.DFU_HOST_HIGH
#define HYB_REGS__DFU_HOST_HIGH__V_bm 0xffffffff
#define HYB_REGS__DFU_HOST_HIGH__V_bp 0
#define HYB_REGS__DFU_HOST_HIGH__V_bw 32
#define HYB_REGS__DFU_HOST_HIGH__V_reset 0x0

// reg - hyb_regs.DFU_LENGTH
#define HYB_REGS__DFU_LENGTH__V_bm 0xfff
#define HYB_REGS__DFU_LENGTH__V_bp 0
#define HYB_REGS__DFU_LENGTH__V_bw 12
#define HYB_REGS__DFU_LENGTH__V_reset 0x0
#define HYB_REGS__DFU_LENGTH__MORE_bm 0x80000000
#define HYB_REGS__DFU_LENGTH__MORE_bp 31
#define HYB_REGS__DFU_LENGTH__MORE_bw 1
#define HYB_REGS__DFU_LENGTH__MORE_reset 0x0

// reg - hyb_regs.DFU_GO
#define HYB_REGS__DFU_GO__V_bm 0xffffffff
#define HYB_REGS__DFU_GO__V_bp 0
#define HYB_REGS__DFU_GO__V_bw 32
#define HYB_REGS__DFU_GO__V_reset 0x0

// reg - hyb_regs.DMA_DONE
#define HYB_REGS__DMA_DONE__V_bm 0xffff
#define HYB_REGS__DMA_DONE__V_bp 0
#define HYB_REGS__DMA_DONE__V_bw 16

// reg - hyb_regs.DMA_ERROR
#define HYB_REGS__DMA_ERROR__V_bm 0xffff
#define HYB_REGS__DMA_ERROR__V_bp 0
#define HYB_REGS__DMA_ERROR__V_bw 16

// reg - hyb_regs.LEAVE_LENGTH
#define HYB_REGS__LEAVE_LENGTH__V_bm 0xfff
#define HYB_REGS__LEAVE_LENGTH__V_bp 0
#define HYB_REGS__LEAVE_LENGTH__V_bw 12
#define HYB_REGS__LEAVE_LENGTH__V_reset 0x0

// reg - hyb_regs.LEAVE
#define HYB_REGS__LEAVE__V_bm 0xffffffff
#define HYB_REGS__LEAVE__V_bp 0
#define HYB_REGS__LEAVE__V_bw 32
#define HYB_REGS__LEAVE__V_reset 0x0

// reg - hyb_regs.LEFT
#define HYB_REGS__LEFT__V_bm 0xffffffff
#define HYB_REGS__LEFT__V_bp 0
#define HYB_REGS__LEFT__V_bw 32

// reg - hyb_regs.PSUM[]
#define HYB_REGS__PSUMX__V_bm 0xffff
#define HYB_REGS__PSUMX__V_bp 0
#define HYB_REGS__PSUMX__V_bw 16
#define HYB_REGS__PSUMX__ERROR_bm 0x10000
#define HYB_REGS__PSUMX__ERROR_bp 16
#define HYB_REGS__PSUMX__ERROR_bw 1

// reg - hyb_regs.HEADER_FLOW
#define HYB_REGS__HEADER_FLOW__FLOW_bm 0x3f
#define HYB_REGS__HEADER_FLOW__FLOW_bp 0
#define HYB_REGS__HEADER_FLOW__FLOW_bw 6
#define HYB_REGS__HEADER_FLOW__FLOW_reset 0x0
#define HYB_REGS__HEADER_FLOW__V6_bm 0x40
#define HYB_REGS__HEADER_FLOW__V6_bp 6
#define HYB_REGS__HEADER_FLOW__V6_bw 1
#define HYB_REGS__HEADER_FLOW__V6_reset 0x0
#define HYB_REGS__HEADER_FLOW__STAMPS_bm 0x80
#define HYB_REGS__HEADER_FLOW__STAMPS_bp 7
#define HYB_REGS__HEADER_FLOW__STAMPS_bw 1
#define HYB_REGS__HEADER_FLOW__STAMPS_reset 0x0
#define HYB_REGS__HEADER_FLOW__HOST_bm 0xffffff00
#define HYB_REGS__HEADER_FLOW__HOST_bp 8
#define HYB_REGS__HEADER_FLOW__HOST_bw 24
#define HYB_REGS__HEADER_FLOW__HOST_reset 0x0

// reg - hyb_regs.HEADER_SEQ
#define HYB_REGS__HEADER_SEQ__V_bm 0xffffffff
#define HYB_REGS__HEADER_SEQ__V_bp 0
#define HYB_REGS__HEADER_SEQ__V_bw 32
#define HYB_REGS__HEADER_SEQ__V_reset 0x0

// reg - hyb_regs.HEADER_ACK
#define HYB_REGS__HEADER_ACK__V_bm 0xffffffff
#define HYB_REGS__HEADER_ACK__V_bp 0
#define HYB_REGS__HEADER_ACK__V_bw 32
#define HYB_REGS__HEADER_ACK__V_reset 0x0

// reg - hyb_regs.HEADER_VAL
#define HYB_REGS__HEADER_VAL__V_bm 0xffffffff
#define HYB_REGS__HEADER_VAL__V_bp 0
#define HYB_REGS__HEADER_VAL__V_bw 32
#define HYB_REGS__HEADER_VAL__V_reset 0x0

// reg - hyb_regs.HEADER_ECR
#define HYB_REGS__HEADER_ECR__V_bm 0xffffffff
#define HYB_REGS__HEADER_ECR__V_bp 0
#define HYB_REGS__HEADER_ECR__V_bw 32
#define HYB_REGS__HEADER_ECR__V_reset 0x0

// reg - hyb_regs.HEADER_FIELDS
#define HYB_REGS__HEADER_FIELDS__TOS_bm 0xff
#define HYB_REGS__HEADER_FIELDS__TOS_bp 0
#define HYB_REGS__HEADER_FIELDS__TOS_bw 8
#define HYB_REGS__HEADER_FIELDS__TOS_reset 0x0
#define HYB_REGS__HEADER_FIELDS__FLAGS_bm 0xff00
#define HYB_REGS__HEADER_FIELDS__FLAGS_bp 8
#define HYB_REGS__HEADER_FIELDS__FLAGS_bw 8
#define HYB_REGS__HEADER_FIELDS__FLAGS_reset 0x0
#define HYB_REGS__HEADER_FIELDS__WINDOW_bm 0xffff0000
#define HYB_REGS__HEADER_FIELDS__WINDOW_bp 16
#define HYB_REGS__HEADER_FIELDS__WINDOW_bw 16
#define HYB_REGS__HEADER_FIELDS__WINDOW_reset 0x0

// reg - hyb_regs.HEADER_FROM
#define HYB_REGS__HEADER_FROM__V_bm 0xffffffff
#define HYB_REGS__HEADER_FROM__V_bp 0
#define HYB_REGS__HEADER_FROM__V_bw 32
#define HYB_REGS__HEADER_FROM__V_reset 0x0

// reg - hyb_regs.HEADER_GO
#define HYB_REGS__HEADER_GO__V_bm 0xffffffff
#define HYB_REGS__HEADER_GO__V_bp 0
#define HYB_REGS__HEADER_GO__V_bw 32
#define HYB_REGS__HEADER_GO__V_reset 0x0

// reg - hyb_regs.HEADER_BUSY
#define HYB_REGS__HEADER_BUSY__V_bm 0x1
#define HYB_REGS__HEADER_BUSY__V_bp 0
#define HYB_REGS__HEADER_BUSY__V_bw 1

// reg - hyb_regs.HEADER_DROPPED
#define HYB_REGS__HEADER_DROPPED__V_bm 0xffffffff
#define HYB_REGS__HEADER_DROPPED__V_bp 0
#define HYB_REGS__HEADER_DROPPED__V_bw 32

// addrmap - hyb_regs
typedef struct __attribute__ ((__packed__)) {
    hyb_regs__BLOCK_t BLOCK;
    uint32_t CYCLES_LOW;
    uint32_t CYCLES_HIGH;
    uint32_t MEMORY;
    uint32_t UNITS;
    uint32_t CONSOLE;
    uint32_t EXIT;
    uint32_t RAISE;
    uint8_t RESERVED_2c_1ff[0x1d4];
    uint32_t MARKER;
    uint32_t READY;
    uint32_t ADDRESS;
    uint32_t FREE;
    uint32_t DFU_HOST_LOW;
    uint32_t DFU_HOST_HIGH;
    uint32_t DFU_LENGTH;
    uint32_t DFU_GO;
    uint32_t DMA_DONE;
    uint32_t DMA_ERROR;
    uint32_t LEAVE_LENGTH;
    uint32_t LEAVE;
    uint32_t LEFT;
    uint8_t RESERVED_234_23f[0xc];
    uint32_t PSUM[16];
    uint32_t HEADER_FLOW;
    uint32_t HEADER_SEQ;
    uint32_t HEADER_ACK;
    uint32_t HEADER_VAL;
    uint32_t HEADER_ECR;
    uint32_t HEADER_FIELDS;
    uint32_t HEADER_FROM;
    uint32_t HEADER_GO;
    uint32_t HEADER_BUSY;
    uint32_t HEADER_DROPPED;
} hyb_regs_t;


static_assert(sizeof(hyb_regs_t) == 0x2a8, "Packing error");

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
    REG("UNITS", 0x1c, 4, 1, 0x4, "r", "units that the design has; without them their registers are 0") \
    REG("CONSOLE", 0x20, 4, 1, 0x4, "w", "console: each write prints a character; always ready") \
    REG("EXIT", 0x24, 4, 1, 0x4, "w", "ends the simulation") \
    REG("RAISE", 0x28, 4, 1, 0x4, "rw", "raises fast interrupts of the processor while a bit is 1") \
    REG("MARKER", 0x200, 4, 1, 0x4, "rw", "step marker: a module bound to the simulation records the cycle of each write") \
    REG("READY", 0x204, 4, 1, 0x4, "r", "MAU: whether a slot is free (READY of S2.7)") \
    REG("ADDRESS", 0x208, 4, 1, 0x4, "r", "MAU: reading it allocates the slot; its PSUM, DMA_DONE and DMA_ERROR begin at 0") \
    REG("FREE", 0x20c, 4, 1, 0x4, "w", "MAU: frees a slot that has not been sent; its DMA must be done") \
    REG("DFU_HOST_LOW", 0x210, 4, 1, 0x4, "rw", "DFU: address in host memory, bits 31:0") \
    REG("DFU_HOST_HIGH", 0x214, 4, 1, 0x4, "rw", "DFU: bits 63:32; keeps its value. Behind the device contract an address names a send buffer (hyb_buffers.sv): slot in bits 31:16, queue pair in 13:8; the lower half is an offset in the stream, modulo the buffer") \
    REG("DFU_LENGTH", 0x218, 4, 1, 0x4, "rw", "DFU: bytes to copy") \
    REG("DFU_GO", 0x21c, 4, 1, 0x4, "w", "DFU: copies; the bytes must be within a slot") \
    REG("DMA_DONE", 0x220, 4, 1, 0x4, "r", "DFU: one bit for each slot: its last piece is there, and summed") \
    REG("DMA_ERROR", 0x224, 4, 1, 0x4, "r", "DFU: one bit for each slot: host memory refused a read, or a piece was not within the slot") \
    REG("LEAVE_LENGTH", 0x228, 4, 1, 0x4, "rw", "way out: bytes of the frame, which begins where the slot does") \
    REG("LEAVE", 0x22c, 4, 1, 0x4, "w", "way out: sends the frame, then frees its slot") \
    REG("LEFT", 0x230, 4, 1, 0x4, "r", "way out: frames that have left since reset") \
    REG("PSUM", 0x240, 4, 16, 0x4, "r", "PCU: ones' complement sum of the bytes that the DFU copied into this slot, as little-endian words at even addresses, folded") \
    REG("HEADER_FLOW", 0x280, 4, 1, 0x4, "rw", "header: the flow; like all registers of the descriptor it keeps its value") \
    REG("HEADER_SEQ", 0x284, 4, 1, 0x4, "rw", "header: sequence number") \
    REG("HEADER_ACK", 0x288, 4, 1, 0x4, "rw", "header: acknowledgement number") \
    REG("HEADER_VAL", 0x28c, 4, 1, 0x4, "rw", "header: TSval") \
    REG("HEADER_ECR", 0x290, 4, 1, 0x4, "rw", "header: TSecr") \
    REG("HEADER_FIELDS", 0x294, 4, 1, 0x4, "rw", "header: the other fields") \
    REG("HEADER_FROM", 0x298, 4, 1, 0x4, "rw", "header: address of the payload, as in DFU_HOST_LOW") \
    REG("HEADER_GO", 0x29c, 4, 1, 0x4, "w", "header: fetches the payload behind the headers, writes these with their checksums, sends the frame, then frees its slot") \
    REG("HEADER_BUSY", 0x2a0, 4, 1, 0x4, "r", "header: while it is 1, templates must not change") \
    REG("HEADER_DROPPED", 0x2a4, 4, 1, 0x4, "r", "header: frames whose payload host memory refused; their slots are free")

/* FIELD(register, name, low bit, bits, text), of registers with more than one */
#define HYB_REGS_FIELDS(FIELD) \
    FIELD("BLOCK.VERSION", "minor", 0, 16, "changes that add") \
    FIELD("BLOCK.VERSION", "major", 16, 16, "changes that old tools cannot read") \
    FIELD("MEMORY", "instr", 0, 16, "bytes of instruction memory, in KiB") \
    FIELD("MEMORY", "data", 16, 16, "bytes of data memory, in KiB") \
    FIELD("UNITS", "send", 0, 1, "MAU, DFU, PCU and the way out: the prototype") \
    FIELD("UNITS", "headers", 1, 1, "headers: the complete one") \
    FIELD("DFU_LENGTH", "v", 0, 12, "") \
    FIELD("DFU_LENGTH", "more", 31, 1, "another piece of the slot follows: not yet done") \
    FIELD("PSUM", "v", 0, 16, "") \
    FIELD("PSUM", "error", 16, 1, "DMA_ERROR of this slot") \
    FIELD("HEADER_FLOW", "flow", 0, 6, "its template") \
    FIELD("HEADER_FLOW", "v6", 6, 1, "of IPv6") \
    FIELD("HEADER_FLOW", "stamps", 7, 1, "with the Timestamps option, behind two NOPs") \
    FIELD("HEADER_FLOW", "host", 8, 24, "bits 31:8 of DFU_HOST_HIGH, whose bits 7:0 are 0") \
    FIELD("HEADER_FIELDS", "tos", 0, 8, "TOS or traffic class") \
    FIELD("HEADER_FIELDS", "flags", 8, 8, "flags of TCP") \
    FIELD("HEADER_FIELDS", "window", 16, 16, "window, as in the header")

#endif /* HYB_REGS_H */
