/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtt_regs.h - Round-trip measurement. Made by device/gen_regs.py from device/rtt.rdl:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 99c742b237383cd4e0610343ff0e6857d5f35c220d85ff936e0d0b774687ef77
 * text sha256   1a794e3594132edef29b6c5c10c5fbdbfc47e2e42769aa99722b0526c4518f73
 */
/* clang-format off */
#ifndef RTT_REGS_H
#define RTT_REGS_H

#ifdef __cplusplus
extern "C" {
#endif
#include <stdint.h>
#include <assert.h>

// reg - rtt_regs.BLOCK.TYPE
#define RTT_REGS__BLOCK__TYPE__V_bm 0xffffffff
#define RTT_REGS__BLOCK__TYPE__V_bp 0
#define RTT_REGS__BLOCK__TYPE__V_bw 32
#define RTT_REGS__BLOCK__TYPE__V_reset 0x4d545452

// reg - rtt_regs.BLOCK.VERSION
#define RTT_REGS__BLOCK__VERSION__MINOR_bm 0xffff
#define RTT_REGS__BLOCK__VERSION__MINOR_bp 0
#define RTT_REGS__BLOCK__VERSION__MINOR_bw 16
#define RTT_REGS__BLOCK__VERSION__MINOR_reset 0x0
#define RTT_REGS__BLOCK__VERSION__MAJOR_bm 0xffff0000
#define RTT_REGS__BLOCK__VERSION__MAJOR_bp 16
#define RTT_REGS__BLOCK__VERSION__MAJOR_bw 16
#define RTT_REGS__BLOCK__VERSION__MAJOR_reset 0x1

// reg - rtt_regs.BLOCK.SIZE
#define RTT_REGS__BLOCK__SIZE__V_bm 0xffffffff
#define RTT_REGS__BLOCK__SIZE__V_bp 0
#define RTT_REGS__BLOCK__SIZE__V_bw 32
#define RTT_REGS__BLOCK__SIZE__V_reset 0x4000

// reg - rtt_regs.BLOCK.NEXT
#define RTT_REGS__BLOCK__NEXT__V_bm 0xffffffff
#define RTT_REGS__BLOCK__NEXT__V_bp 0
#define RTT_REGS__BLOCK__NEXT__V_bw 32

// regfile - rtt_regs.BLOCK
typedef struct __attribute__ ((__packed__)) {
    uint32_t TYPE;
    uint32_t VERSION;
    uint32_t SIZE;
    uint32_t NEXT;
} rtt_regs__BLOCK_t;

// reg - rtt_regs.CLOCK_HZ
#define RTT_REGS__CLOCK_HZ__V_bm 0xffffffff
#define RTT_REGS__CLOCK_HZ__V_bp 0
#define RTT_REGS__CLOCK_HZ__V_bw 32

// reg - rtt_regs.TABLE
#define RTT_REGS__TABLE__SLOTS_bm 0xffff
#define RTT_REGS__TABLE__SLOTS_bp 0
#define RTT_REGS__TABLE__SLOTS_bw 16
#define RTT_REGS__TABLE__FLOWS_bm 0xffff0000
#define RTT_REGS__TABLE__FLOWS_bp 16
#define RTT_REGS__TABLE__FLOWS_bw 16

// reg - rtt_regs.HIST_SHAPE
#define RTT_REGS__HIST_SHAPE__LINEAR_bm 0xffff
#define RTT_REGS__HIST_SHAPE__LINEAR_bp 0
#define RTT_REGS__HIST_SHAPE__LINEAR_bw 16
#define RTT_REGS__HIST_SHAPE__PER_OCTAVE_bm 0xffff0000
#define RTT_REGS__HIST_SHAPE__PER_OCTAVE_bp 16
#define RTT_REGS__HIST_SHAPE__PER_OCTAVE_bw 16

// reg - rtt_regs.RING_ENTRIES
#define RTT_REGS__RING_ENTRIES__V_bm 0xffffffff
#define RTT_REGS__RING_ENTRIES__V_bp 0
#define RTT_REGS__RING_ENTRIES__V_bw 32

// reg - rtt_regs.CONTROL
#define RTT_REGS__CONTROL__ENABLE_bm 0x1
#define RTT_REGS__CONTROL__ENABLE_bp 0
#define RTT_REGS__CONTROL__ENABLE_bw 1
#define RTT_REGS__CONTROL__ENABLE_reset 0x0
#define RTT_REGS__CONTROL__MODE_bm 0x70
#define RTT_REGS__CONTROL__MODE_bp 4
#define RTT_REGS__CONTROL__MODE_bw 3
#define RTT_REGS__CONTROL__MODE_reset 0x0
#define RTT_REGS__CONTROL__LOOPED_bm 0x100
#define RTT_REGS__CONTROL__LOOPED_bp 8
#define RTT_REGS__CONTROL__LOOPED_bw 1
#define RTT_REGS__CONTROL__LOOPED_reset 0x0

// reg - rtt_regs.PORTS
#define RTT_REGS__PORTS__LOCAL_PORT_bm 0xffff
#define RTT_REGS__PORTS__LOCAL_PORT_bp 0
#define RTT_REGS__PORTS__LOCAL_PORT_bw 16
#define RTT_REGS__PORTS__LOCAL_PORT_reset 0x0
#define RTT_REGS__PORTS__REMOTE_PORT_bm 0xffff0000
#define RTT_REGS__PORTS__REMOTE_PORT_bp 16
#define RTT_REGS__PORTS__REMOTE_PORT_bw 16
#define RTT_REGS__PORTS__REMOTE_PORT_reset 0x0

// reg - rtt_regs.TAG_OFFSET
#define RTT_REGS__TAG_OFFSET__V_bm 0x7f
#define RTT_REGS__TAG_OFFSET__V_bp 0
#define RTT_REGS__TAG_OFFSET__V_bw 7
#define RTT_REGS__TAG_OFFSET__V_reset 0x0

// reg - rtt_regs.TIMEOUT
#define RTT_REGS__TIMEOUT__V_bm 0xffffffff
#define RTT_REGS__TIMEOUT__V_bp 0
#define RTT_REGS__TIMEOUT__V_bw 32
#define RTT_REGS__TIMEOUT__V_reset 0xee6b280

// reg - rtt_regs.HIST_BASE
#define RTT_REGS__HIST_BASE__V_bm 0xffffffff
#define RTT_REGS__HIST_BASE__V_bp 0
#define RTT_REGS__HIST_BASE__V_bw 32
#define RTT_REGS__HIST_BASE__V_reset 0x0

// reg - rtt_regs.COMMAND
#define RTT_REGS__COMMAND__SNAPSHOT_bm 0x1
#define RTT_REGS__COMMAND__SNAPSHOT_bp 0
#define RTT_REGS__COMMAND__SNAPSHOT_bw 1
#define RTT_REGS__COMMAND__SNAPSHOT_reset 0x0
#define RTT_REGS__COMMAND__FLUSH_bm 0x2
#define RTT_REGS__COMMAND__FLUSH_bp 1
#define RTT_REGS__COMMAND__FLUSH_bw 1
#define RTT_REGS__COMMAND__FLUSH_reset 0x0

// reg - rtt_regs.STATUS
#define RTT_REGS__STATUS__BUSY_bm 0x1
#define RTT_REGS__STATUS__BUSY_bp 0
#define RTT_REGS__STATUS__BUSY_bw 1
#define RTT_REGS__STATUS__FLUSHING_bm 0x2
#define RTT_REGS__STATUS__FLUSHING_bp 1
#define RTT_REGS__STATUS__FLUSHING_bw 1

// reg - rtt_regs.SNAPSHOTS
#define RTT_REGS__SNAPSHOTS__V_bm 0xffffffff
#define RTT_REGS__SNAPSHOTS__V_bp 0
#define RTT_REGS__SNAPSHOTS__V_bw 32

// reg - rtt_regs.RING_HEAD
#define RTT_REGS__RING_HEAD__V_bm 0xffffffff
#define RTT_REGS__RING_HEAD__V_bp 0
#define RTT_REGS__RING_HEAD__V_bw 32

// reg - rtt_regs.RING_TAIL
#define RTT_REGS__RING_TAIL__V_bm 0xffffffff
#define RTT_REGS__RING_TAIL__V_bp 0
#define RTT_REGS__RING_TAIL__V_bw 32
#define RTT_REGS__RING_TAIL__V_reset 0x0

// reg - rtt_regs.LAST
#define RTT_REGS__LAST__V_bm 0xffffffff
#define RTT_REGS__LAST__V_bp 0
#define RTT_REGS__LAST__V_bw 32

// reg - rtt_regs.NOW
#define RTT_REGS__NOW__V_bm 0xffffffff
#define RTT_REGS__NOW__V_bp 0
#define RTT_REGS__NOW__V_bw 32

// reg - rtt_regs.SCRATCH
#define RTT_REGS__SCRATCH__V_bm 0xffffffff
#define RTT_REGS__SCRATCH__V_bp 0
#define RTT_REGS__SCRATCH__V_bw 32
#define RTT_REGS__SCRATCH__V_reset 0x0

// reg - rtt_regs.S_BEGIN_LO
#define RTT_REGS__S_BEGIN_LO__V_bm 0xffffffff
#define RTT_REGS__S_BEGIN_LO__V_bp 0
#define RTT_REGS__S_BEGIN_LO__V_bw 32

// reg - rtt_regs.S_BEGIN_HI
#define RTT_REGS__S_BEGIN_HI__V_bm 0xffffffff
#define RTT_REGS__S_BEGIN_HI__V_bp 0
#define RTT_REGS__S_BEGIN_HI__V_bw 32

// reg - rtt_regs.S_END_LO
#define RTT_REGS__S_END_LO__V_bm 0xffffffff
#define RTT_REGS__S_END_LO__V_bp 0
#define RTT_REGS__S_END_LO__V_bw 32

// reg - rtt_regs.S_END_HI
#define RTT_REGS__S_END_HI__V_bm 0xffffffff
#define RTT_REGS__S_END_HI__V_bp 0
#define RTT_REGS__S_END_HI__V_bw 32

// reg - rtt_regs.S_COUNT
#define RTT_REGS__S_COUNT__V_bm 0xffffffff
#define RTT_REGS__S_COUNT__V_bp 0
#define RTT_REGS__S_COUNT__V_bw 32

// reg - rtt_regs.S_LAST
#define RTT_REGS__S_LAST__V_bm 0xffffffff
#define RTT_REGS__S_LAST__V_bp 0
#define RTT_REGS__S_LAST__V_bw 32

// reg - rtt_regs.S_MIN
#define RTT_REGS__S_MIN__V_bm 0xffffffff
#define RTT_REGS__S_MIN__V_bp 0
#define RTT_REGS__S_MIN__V_bw 32

// reg - rtt_regs.S_MAX
#define RTT_REGS__S_MAX__V_bm 0xffffffff
#define RTT_REGS__S_MAX__V_bp 0
#define RTT_REGS__S_MAX__V_bw 32

// reg - rtt_regs.S_SUM_LO
#define RTT_REGS__S_SUM_LO__V_bm 0xffffffff
#define RTT_REGS__S_SUM_LO__V_bp 0
#define RTT_REGS__S_SUM_LO__V_bw 32

// reg - rtt_regs.S_SUM_HI
#define RTT_REGS__S_SUM_HI__V_bm 0xffffffff
#define RTT_REGS__S_SUM_HI__V_bp 0
#define RTT_REGS__S_SUM_HI__V_bw 32

// reg - rtt_regs.S_SUMSQ_LO
#define RTT_REGS__S_SUMSQ_LO__V_bm 0xffffffff
#define RTT_REGS__S_SUMSQ_LO__V_bp 0
#define RTT_REGS__S_SUMSQ_LO__V_bw 32

// reg - rtt_regs.S_SUMSQ_MID
#define RTT_REGS__S_SUMSQ_MID__V_bm 0xffffffff
#define RTT_REGS__S_SUMSQ_MID__V_bp 0
#define RTT_REGS__S_SUMSQ_MID__V_bw 32

// reg - rtt_regs.S_SUMSQ_HI
#define RTT_REGS__S_SUMSQ_HI__V_bm 0xffffffff
#define RTT_REGS__S_SUMSQ_HI__V_bp 0
#define RTT_REGS__S_SUMSQ_HI__V_bw 32

// reg - rtt_regs.S_TX_PACKETS
#define RTT_REGS__S_TX_PACKETS__V_bm 0xffffffff
#define RTT_REGS__S_TX_PACKETS__V_bp 0
#define RTT_REGS__S_TX_PACKETS__V_bw 32

// reg - rtt_regs.S_RX_PACKETS
#define RTT_REGS__S_RX_PACKETS__V_bm 0xffffffff
#define RTT_REGS__S_RX_PACKETS__V_bp 0
#define RTT_REGS__S_RX_PACKETS__V_bw 32

// reg - rtt_regs.S_PROBES
#define RTT_REGS__S_PROBES__V_bm 0xffffffff
#define RTT_REGS__S_PROBES__V_bp 0
#define RTT_REGS__S_PROBES__V_bw 32

// reg - rtt_regs.S_RESENT
#define RTT_REGS__S_RESENT__V_bm 0xffffffff
#define RTT_REGS__S_RESENT__V_bp 0
#define RTT_REGS__S_RESENT__V_bw 32

// reg - rtt_regs.S_REPLACED
#define RTT_REGS__S_REPLACED__V_bm 0xffffffff
#define RTT_REGS__S_REPLACED__V_bp 0
#define RTT_REGS__S_REPLACED__V_bw 32

// reg - rtt_regs.S_AMBIGUOUS
#define RTT_REGS__S_AMBIGUOUS__V_bm 0xffffffff
#define RTT_REGS__S_AMBIGUOUS__V_bp 0
#define RTT_REGS__S_AMBIGUOUS__V_bw 32

// reg - rtt_regs.S_COVERED
#define RTT_REGS__S_COVERED__V_bm 0xffffffff
#define RTT_REGS__S_COVERED__V_bp 0
#define RTT_REGS__S_COVERED__V_bw 32

// reg - rtt_regs.S_LOST
#define RTT_REGS__S_LOST__V_bm 0xffffffff
#define RTT_REGS__S_LOST__V_bp 0
#define RTT_REGS__S_LOST__V_bw 32

// reg - rtt_regs.S_IN_FLIGHT
#define RTT_REGS__S_IN_FLIGHT__V_bm 0xffffffff
#define RTT_REGS__S_IN_FLIGHT__V_bp 0
#define RTT_REGS__S_IN_FLIGHT__V_bw 32

// reg - rtt_regs.S_ANSWERS
#define RTT_REGS__S_ANSWERS__V_bm 0xffffffff
#define RTT_REGS__S_ANSWERS__V_bp 0
#define RTT_REGS__S_ANSWERS__V_bw 32

// reg - rtt_regs.S_DUPLICATES
#define RTT_REGS__S_DUPLICATES__V_bm 0xffffffff
#define RTT_REGS__S_DUPLICATES__V_bp 0
#define RTT_REGS__S_DUPLICATES__V_bw 32

// reg - rtt_regs.S_UNMATCHED
#define RTT_REGS__S_UNMATCHED__V_bm 0xffffffff
#define RTT_REGS__S_UNMATCHED__V_bp 0
#define RTT_REGS__S_UNMATCHED__V_bw 32

// reg - rtt_regs.S_REORDERED
#define RTT_REGS__S_REORDERED__V_bm 0xffffffff
#define RTT_REGS__S_REORDERED__V_bp 0
#define RTT_REGS__S_REORDERED__V_bw 32

// reg - rtt_regs.S_RING_DROPPED
#define RTT_REGS__S_RING_DROPPED__V_bm 0xffffffff
#define RTT_REGS__S_RING_DROPPED__V_bp 0
#define RTT_REGS__S_RING_DROPPED__V_bw 32

// mem - rtt_regs.HIST
typedef struct __attribute__ ((__packed__)) {
    uint32_t mem[1024];
} rtt_regs__HIST_t;

// mem - rtt_regs.RING
typedef struct __attribute__ ((__packed__)) {
    uint32_t mem[2048];
} rtt_regs__RING_t;

// addrmap - rtt_regs
typedef struct __attribute__ ((__packed__)) {
    rtt_regs__BLOCK_t BLOCK;
    uint32_t CLOCK_HZ;
    uint32_t TABLE;
    uint32_t HIST_SHAPE;
    uint32_t RING_ENTRIES;
    uint8_t RESERVED_20_3f[0x20];
    uint32_t CONTROL;
    uint32_t PORTS;
    uint32_t TAG_OFFSET;
    uint32_t TIMEOUT;
    uint32_t HIST_BASE;
    uint8_t RESERVED_54_57[0x4];
    uint32_t COMMAND;
    uint32_t STATUS;
    uint32_t SNAPSHOTS;
    uint32_t RING_HEAD;
    uint32_t RING_TAIL;
    uint32_t LAST;
    uint32_t NOW;
    uint32_t SCRATCH;
    uint8_t RESERVED_78_ff[0x88];
    uint32_t S_BEGIN_LO;
    uint32_t S_BEGIN_HI;
    uint32_t S_END_LO;
    uint32_t S_END_HI;
    uint32_t S_COUNT;
    uint32_t S_LAST;
    uint32_t S_MIN;
    uint32_t S_MAX;
    uint32_t S_SUM_LO;
    uint32_t S_SUM_HI;
    uint32_t S_SUMSQ_LO;
    uint32_t S_SUMSQ_MID;
    uint32_t S_SUMSQ_HI;
    uint8_t RESERVED_134_13f[0xc];
    uint32_t S_TX_PACKETS;
    uint32_t S_RX_PACKETS;
    uint32_t S_PROBES;
    uint32_t S_RESENT;
    uint32_t S_REPLACED;
    uint32_t S_AMBIGUOUS;
    uint32_t S_COVERED;
    uint32_t S_LOST;
    uint32_t S_IN_FLIGHT;
    uint32_t S_ANSWERS;
    uint32_t S_DUPLICATES;
    uint32_t S_UNMATCHED;
    uint32_t S_REORDERED;
    uint32_t S_RING_DROPPED;
    uint8_t RESERVED_178_fff[0xe88];
    rtt_regs__HIST_t HIST;
    rtt_regs__RING_t RING;
} rtt_regs_t;


static_assert(sizeof(rtt_regs_t) == 0x4000, "Packing error");

#ifdef __cplusplus
}
#endif

/* REG(name, offset, bytes, count, stride, access, text): an array has its count */
#define RTT_REGS_TABLE(REG) \
    REG("BLOCK.TYPE", 0x0, 4, 1, 0x4, "r", "what the block is: four letters, the first in bits 7:0") \
    REG("BLOCK.VERSION", 0x4, 4, 1, 0x4, "r", "of the block's registers; major changes are those that old tools cannot read") \
    REG("BLOCK.SIZE", 0x8, 4, 1, 0x4, "r", "bytes of the block") \
    REG("BLOCK.NEXT", 0xc, 4, 1, 0x4, "r", "offset of the next block from the start of the window; 0: this is the last") \
    REG("CLOCK_HZ", 0x10, 4, 1, 0x4, "r", "ticks a second") \
    REG("TABLE", 0x14, 4, 1, 0x4, "r", "how many can be followed at once") \
    REG("HIST_SHAPE", 0x18, 4, 1, 0x4, "r", "shape of the histogram") \
    REG("RING_ENTRIES", 0x1c, 4, 1, 0x4, "r", "entries of RING, 16 bytes each") \
    REG("CONTROL", 0x40, 4, 1, 0x4, "rw", "what is measured; a change while packets are in flight wants COMMAND.flush") \
    REG("PORTS", 0x44, 4, 1, 0x4, "rw", "which UDP and TCP packets count, in modes UDP, tag and TCP") \
    REG("TAG_OFFSET", 0x48, 4, 1, 0x4, "rw", "offset of the tag in the payload, 0..64; tags beyond the packet's first 128 bytes are not found") \
    REG("TIMEOUT", 0x4c, 4, 1, 0x4, "rw", "ticks after which a packet in flight is lost, 1..0x7fffffff") \
    REG("HIST_BASE", 0x50, 4, 1, 0x4, "rw", "ticks where the linear part of the histogram begins; a change takes effect at once") \
    REG("COMMAND", 0x58, 4, 1, 0x4, "rw", "a one does it and reads as zero") \
    REG("STATUS", 0x5c, 4, 1, 0x4, "r", "of commands") \
    REG("SNAPSHOTS", 0x60, 4, 1, 0x4, "r", "snapshots taken since reset") \
    REG("RING_HEAD", 0x64, 4, 1, 0x4, "r", "samples written to RING since reset: entry n mod RING_ENTRIES holds the n-th") \
    REG("RING_TAIL", 0x68, 4, 1, 0x4, "rw", "samples that the host is done with: a full ring takes no more and counts them in RING_DROPPED") \
    REG("LAST", 0x6c, 4, 1, 0x4, "r", "the last sample, now, without a snapshot") \
    REG("NOW", 0x70, 4, 1, 0x4, "r", "the counter, now, its low 32 bits") \
    REG("SCRATCH", 0x74, 4, 1, 0x4, "rw", "keeps what is written, for tests of the path to it") \
    REG("S_BEGIN_LO", 0x100, 4, 1, 0x4, "r", "counter at the snapshot before") \
    REG("S_BEGIN_HI", 0x104, 4, 1, 0x4, "r", "") \
    REG("S_END_LO", 0x108, 4, 1, 0x4, "r", "counter at the snapshot; what happened at S_BEGIN <= t < S_END is in it") \
    REG("S_END_HI", 0x10c, 4, 1, 0x4, "r", "") \
    REG("S_COUNT", 0x110, 4, 1, 0x4, "r", "samples") \
    REG("S_LAST", 0x114, 4, 1, 0x4, "r", "ticks, the last one before the snapshot") \
    REG("S_MIN", 0x118, 4, 1, 0x4, "r", "ticks; 0xffffffff with no sample") \
    REG("S_MAX", 0x11c, 4, 1, 0x4, "r", "ticks; 0 with no sample") \
    REG("S_SUM_LO", 0x120, 4, 1, 0x4, "r", "ticks") \
    REG("S_SUM_HI", 0x124, 4, 1, 0x4, "r", "") \
    REG("S_SUMSQ_LO", 0x128, 4, 1, 0x4, "r", "sum of squares, ticks^2, 96 bits") \
    REG("S_SUMSQ_MID", 0x12c, 4, 1, 0x4, "r", "") \
    REG("S_SUMSQ_HI", 0x130, 4, 1, 0x4, "r", "") \
    REG("S_TX_PACKETS", 0x140, 4, 1, 0x4, "r", "packets that left") \
    REG("S_RX_PACKETS", 0x144, 4, 1, 0x4, "r", "packets that arrived") \
    REG("S_PROBES", 0x148, 4, 1, 0x4, "r", "packets that left and count for CONTROL and PORTS. S_PROBES = S_RESENT + those stamped; of those stamped each ends once: in S_COUNT, S_LOST, S_REPLACED, S_AMBIGUOUS, S_COVERED, or is still in S_IN_FLIGHT") \
    REG("S_RESENT", 0x14c, 4, 1, 0x4, "r", "probes not stamped, as one with the same key is in flight, or a TCP segment was sent before") \
    REG("S_REPLACED", 0x150, 4, 1, 0x4, "r", "stamps given up for a newer packet: modes any and UDP; in others two keys had one entry") \
    REG("S_AMBIGUOUS", 0x154, 4, 1, 0x4, "r", "answers to what was sent twice: no sample (Karn)") \
    REG("S_COVERED", 0x158, 4, 1, 0x4, "r", "TCP segments acknowledged by a later segment's acknowledgement: no sample") \
    REG("S_LOST", 0x15c, 4, 1, 0x4, "r", "not answered within TIMEOUT") \
    REG("S_IN_FLIGHT", 0x160, 4, 1, 0x4, "r", "stamped and not ended at the snapshot") \
    REG("S_ANSWERS", 0x164, 4, 1, 0x4, "r", "packets that arrived and count for CONTROL and PORTS") \
    REG("S_DUPLICATES", 0x168, 4, 1, 0x4, "r", "answers to what had its answer already") \
    REG("S_UNMATCHED", 0x16c, 4, 1, 0x4, "r", "answers to nothing that is known") \
    REG("S_REORDERED", 0x170, 4, 1, 0x4, "r", "samples whose packet left before one that was answered earlier") \
    REG("S_RING_DROPPED", 0x174, 4, 1, 0x4, "r", "samples that RING had no room for; they are in all other results") \
    REG("HIST", 0x1000, 4, 1024, 0x4, "r", "samples per bin, of the snapshot: bins 0 to linear-1 one tick each from HIST_BASE on; then per_octave bins for each doubling of the distance; bin 1023: below HIST_BASE") \
    REG("RING", 0x2000, 4, 2048, 0x4, "r", "last samples, 512 of four words: ticks; tag, TCP acknowledgement or ICMP id and sequence; counter at arrival, low and high")

/* FIELD(register, name, low bit, bits, text), of registers with more than one */
#define RTT_REGS_FIELDS(FIELD) \
    FIELD("BLOCK.VERSION", "minor", 0, 16, "changes that add") \
    FIELD("BLOCK.VERSION", "major", 16, 16, "changes that old tools cannot read") \
    FIELD("TABLE", "slots", 0, 16, "entries for packets in flight") \
    FIELD("TABLE", "flows", 16, 16, "entries for TCP connections") \
    FIELD("HIST_SHAPE", "linear", 0, 16, "bins of one tick each, from HIST_BASE on") \
    FIELD("HIST_SHAPE", "per_octave", 16, 16, "bins for each doubling after those") \
    FIELD("CONTROL", "enable", 0, 1, "1: packets are measured") \
    FIELD("CONTROL", "mode", 4, 3, "what matches a packet that arrives with one that left. 0 any: the last that left. 1 UDP: addresses and ports, the last that left. 2 ICMP and ICMPv6 echo: addresses, id, sequence. 3 tag: addresses, ports, the four bytes at TAG_OFFSET of the UDP or TCP payload. 4 TCP: sequence number against acknowledgement, none from segments sent twice (Karn)") \
    FIELD("CONTROL", "looped", 8, 1, "1: the packet itself comes back, through a cable from port to port; 0: an answer does, with addresses and ports exchanged") \
    FIELD("PORTS", "local_port", 0, 16, "port of this side; 0: every") \
    FIELD("PORTS", "remote_port", 16, 16, "port of the other side; 0: every") \
    FIELD("COMMAND", "snapshot", 0, 1, "take a snapshot and begin anew") \
    FIELD("COMMAND", "flush", 1, 1, "forget packets in flight, without counting them") \
    FIELD("STATUS", "busy", 0, 1, "a snapshot is being taken: what is at 0x100 and above is not yet the new one") \
    FIELD("STATUS", "flushing", 1, 1, "packets in flight are being forgotten; none is measured")

#endif /* RTT_REGS_H */
