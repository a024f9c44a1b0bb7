/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what surrounds the processor in hyb_core (device/hyb_host.rdl): commands, events, writes
 * into host memory, fetches from it, frames, time. Nothing here knows a connection.
 */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

#include <toe/hyb_host_regs.h>

#ifdef CHIP
/* The chip has no such registers: chip_host.c keeps the values that firmware reads and writes. */
extern hyb_host_regs_t chip_values;
#define HOST          ((volatile hyb_host_regs_t *)&chip_values)
#define HOST_RX_BYTES 16384u
#else
#define HOST          ((volatile hyb_host_regs_t *)0x40010000u)
#define HOST_RX_BYTES 32768u
#endif

#define HOST_QPS   8u
#define HOST_FRAME 2048u /* bytes of an RX buffer, of a TX slot */
#define HOST_RX    ((const uint8_t *)0x38000000u)

#define HOST_COMMAND    HYB_HOST_REGS__PENDING__COMMAND_bm
#define HOST_FRAME_IN   HYB_HOST_REGS__PENDING__FRAME_bm
#define HOST_QUEUE_PAIR HYB_HOST_REGS__PENDING__QUEUE_PAIR_bm
#define HOST_TIMER      HYB_HOST_REGS__PENDING__TIMER_bm

/* Returns the time in nanoseconds. */
uint64_t host_now(void);
/* Sleeps until a command, a frame or a queue pair waits, or until this time. */
void host_sleep(uint64_t until);
/* Returns HOST_* bits: what waits. */
uint32_t host_pending(void);

/* A command of a SW ring, which toe_cmd has checked: its type is known, its flags are those of the
 * type, the slot of a flow's command is one of the queue pair, and so is an address table index. */
struct host_command {
    uint8_t type, flags, qp;
    uint16_t aux;
    uint32_t flow, arg0, arg1, position;
    uint8_t remote[16], own[16]; /* of the address table entry, with V6 */
};
/* Reads the command that waits. It stays until host_done() or host_answer(). */
void host_command(struct host_command *c);
/* Ends the command without an event. */
void host_done(void);
/* Ends the command by an event in its queue pair's HW ring, where it holds room. */
void host_answer(const struct host_command *c, uint32_t type, uint32_t aux, uint32_t flow,
                 uint32_t arg0, uint32_t arg1);

/* A flow for writes and fetches. */
struct host_flow {
    uint8_t qp;
    uint16_t slot;
};
/* The peer of *_ESTABLISHED; ip4 0: its address is in the record. */
struct host_peer {
    uint32_t ip4;
    uint16_t remote_port, own_port;
};
/* Writes an event. type_aux: type, flags and aux as in a command. peer: of *_ESTABLISHED, else 0.
 * Returns 0, or -1 when the HW ring has no room. */
int host_event(struct host_flow f, uint32_t type_aux, uint32_t arg0, uint32_t arg1,
               const struct host_peer *peer);
/* Writes a flow record of 192 bytes, its sequence count odd first, then `seq`. */
void host_record(struct host_flow f, uint32_t *record, uint32_t seq);
/* Places bytes of the frame at hand, from this address, into the receive buffer. */
void host_place(struct host_flow f, const uint8_t *from, uint32_t length, uint32_t to);

/* Returns the frame at the tail, or 0; sets its length. It stays until host_frame_end(). */
const uint8_t *host_frame(uint32_t *length);
/* Frees the buffers of so many frames from the tail on, when their payload has been placed. */
void host_frame_end(unsigned count);

/* What hyb_look has read of a frame (hyb_look.sv). Except for HOST_IP_SUM, HOST_SUM and the frame's
 * bytes all is valid with HOST_USUAL alone; the stamps are, with HOST_STAMPS. */
struct host_look {
    uint32_t facts;  /* HOST_* in 4:0; 15:8 TOS; 23:16 a hash of the peer's address and the ports */
    uint32_t fields; /* 7:0 flags; 31:16 window */
    uint32_t lengths; /* 7:0 offset of payload; 19:8 its bytes; 31:20 the frame's bytes */
    uint32_t seq, ack, ts_val, ts_ecr;
    uint32_t ports; /* 15:0 the peer's; 31:16 ours */
};
#define HOST_USUAL  1u
#define HOST_IP_SUM 2u /* the checksum of the IPv4 header is right */
#define HOST_SUM    4u /* ... and that of the TCP segment, of IPv6 also */
#define HOST_V6     8u
#define HOST_STAMPS 16u

/* Return the frame that is `n` behind the tail, or 0, with its length; and its description. Of
 * designs with the header unit. */
const uint8_t *host_frame_ahead(unsigned n, uint32_t *length);
const volatile struct host_look *host_look(unsigned n);

/* Returns the TX slot for the next frame, or 0: none is free. */
uint8_t *host_slot(void);
/* Copies bytes of a send buffer into a TX slot. Returns 0, or -1 when the queue pair leaves: then
 * `to` holds something else. */
int host_fetch(struct host_flow f, uint32_t from, uint32_t length, uint8_t *to);
/* Sends the frame in the slot that host_slot() returned. */
void host_send(uint32_t length);

#endif
