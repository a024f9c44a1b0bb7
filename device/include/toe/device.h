/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device contract, version 1, as memory (docs/device-contract.md; SEEDS S1.10).
 *
 * One queue pair (QP) has one DMA area. With a software TOE it is a memfd that the host makes,
 * seals (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) and passes to toed over its Unix socket
 * (attach.h). The layout follows from struct toedev_qp_config alone; both sides compute it with
 * toedev_layout() and neither trusts offsets of the other.
 *
 * Area: doorbell page | status page | SW ring | HW ring | flow records | address table | buffers
 */
#ifndef TOE_DEVICE_H
#define TOE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <toe/cmd.h>

#define TOEDEV_CONTRACT_VERSION 1u
#define TOEDEV_PAGE             4096u
#define TOEDEV_LINE             64u
#define TOEDEV_ADDRESS_ENTRY    64u
#define TOEDEV_RECORD           192u

#define TOEDEV_SW_ENTRIES_MIN 64u
#define TOEDEV_SW_ENTRIES_MAX 65536u
#define TOEDEV_HW_ENTRIES_MIN 64u
#define TOEDEV_HW_ENTRIES_MAX 1048576u
#define TOEDEV_SLOTS_MAX      1048576u
#define TOEDEV_BUFFER_MIN     1024u
#define TOEDEV_BUFFER_MAX     (16u << 20)
#define TOEDEV_ADDRESSES_MAX  4096u

/* What a host requests for a queue pair. Every count is a power of two. */
struct toedev_qp_config {
    uint32_t sw_entries; /* 64..65536 */
    uint32_t hw_entries; /* 64..1048576; a full ring loses nothing, 4 * slots is ample: see ring.h
                          */
    uint32_t slots;      /* 1..1048576 */
    uint32_t tx_size;    /* 1 KiB..16 MiB, each slot's send buffer */
    uint32_t rx_size;    /* 1 KiB..16 MiB, each slot's receive buffer */
    uint32_t addresses;  /* address table entries, 0..4096 */
};

/* Address table entry, host to TOE: what LISTEN and CONNECT with flag V6 name by index. */
struct toedev_address {
    uint8_t addr[16];  /* network byte order, IPv4 as ::ffff:a.b.c.d; all zero: any */
    uint8_t local[16]; /* CONNECT: own address to use; all zero: the TOE's choice */
    uint8_t reserved[TOEDEV_ADDRESS_ENTRY - 32]; /* 0 */
};
_Static_assert(sizeof(struct toedev_address) == TOEDEV_ADDRESS_ENTRY, "address entry");

/* When the host handled the exchange in progress of the flow that status.timed names, for tools: ns
 * of CLOCK_MONOTONIC. All optional: 0, or a time before the exchange, is not known. */
struct toedev_stamps {
    _Alignas(64) uint64_t taken; /* it took the last DATA_RECEIVED: the flow is readable */
    uint64_t read;               /* the program took bytes of it */
    uint64_t write;              /* the program's first call that sends the answer began */
    uint64_t posted;             /* just before the SEND of that call is in the SW ring */
};

/* Page 1+q of BAR 0: the doorbells. Written by the host only. */
struct toedev_doorbells {
    _Alignas(64) uint32_t sw_head; /* free-running count of SW commands written */
    _Alignas(64) uint32_t hw_tail; /* free-running count of HW commands handled */
    _Alignas(
        64) uint32_t irq_arm; /* not 0: interrupt wanted; the TOE clears its own copy, see irq */
    uint32_t irq_seq;         /* host increments at each arming, so that the TOE sees each */
    _Alignas(
        64) uint32_t irq_count; /* moderation: commands before an interrupt, 0 and 1: at once */
    uint32_t irq_usec;          /* or microseconds since the first, whichever is first */
    struct toedev_stamps stamps;
    uint8_t reserved[TOEDEV_PAGE - 5 * 64];
};
_Static_assert(sizeof(struct toedev_doorbells) == TOEDEV_PAGE, "doorbell page");

/* The TOE's own usable IPv6 addresses, and which destinations it can reach with them. */
#define TOEDEV_IP6_ADDRS  8u
#define TOEDEV_IP6_ON     1u /* the TOE has IPv6 */
#define TOEDEV_IP6_ROUTER 2u /* it has a router for destinations that are not on its link */
struct toedev_ip6 {
    uint32_t seq;
    uint32_t flags; /* TOEDEV_IP6_* */
    uint32_t count;
    uint32_t scope; /* index of the interface that link-local addresses belong to; 0: none */
    uint8_t addr[TOEDEV_IP6_ADDRS][16];
    uint8_t prefix_len[TOEDEV_IP6_ADDRS]; /* of the network on the link; 128: none */
    uint8_t reserved[104];
};
_Static_assert(sizeof(struct toedev_ip6) == 256, "IPv6 of the status page");

/* Status block: written by the TOE only. */
struct toedev_status {
    _Alignas(64) uint32_t sw_tail;  /* SW commands handled */
    _Alignas(64) uint32_t hw_head;  /* HW commands written */
    _Alignas(64) uint32_t sleeping; /* not 0: the TOE sleeps; ring the doorbell eventfd */
    uint32_t orders; /* not 0: the TOE issues the fence for registered hosts (ring.h); never changes
                      */
    uint32_t timed;  /* 1 + slot of the flow whose exchanges a tool times (stamps); 0: none */
    _Alignas(64) uint32_t halted; /* a TOE_R_* when this queue pair is halted, else 0 */
    /* The TOE's current IPv6 state; seq is odd while it is being written. */
    _Alignas(64) struct toedev_ip6 ip6;
    uint8_t reserved[TOEDEV_PAGE - 4 * 64 - 256];
};
_Static_assert(sizeof(struct toedev_status) == TOEDEV_PAGE, "status page");

/* Values of a record's ssthresh from here on: no loss has set it yet. */
#define TOEDEV_SSTHRESH_NONE 0x3fffffffu

/* Flow record: 192 bytes per slot, TOE to host. seq is odd while the TOE writes. Addresses in
 * network byte order, IPv4 as ::ffff:a.b.c.d; everything else little endian. */
struct toedev_flow_record {
    uint32_t seq;
    uint8_t state; /* RFC 9293 state, enum toec_state's numbers */
    uint8_t opts;  /* 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen */
    uint8_t ws_send, ws_recv;
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;
    uint16_t mss_send, mss_recv;
    uint32_t srtt_us, rttvar_us, rto_us, min_rtt_us;
    uint32_t cwnd, ssthresh, snd_wnd, rcv_wnd; /* bytes */
    uint32_t retransmits, in_flight;
    uint64_t bytes_sent, bytes_acked, bytes_received;
    uint32_t generation; /* counts the uses of this slot */
    uint32_t soft_error; /* a TOE_R_*: last ICMP error that did not end the flow, else 0 */
    uint64_t delivery_rate, pacing_rate; /* bytes per second; 0: not known, not paced */
    uint8_t cc;                          /* congestion control: the value of OPTION CC */
    uint8_t app_limited;                 /* the application limited delivery_rate */
    uint16_t pmtu;                       /* path MTU, as far as is known */
    /* Loss recovery, in outstanding bytes. sacked: SACKed. lost: marked as lost, retransmitted or
     * not. retrans_out: retransmitted and not marked as lost again. */
    uint32_t sacked;
    uint64_t bytes_retrans; /* payload bytes retransmitted in all */
    uint32_t lost, retrans_out;
    uint32_t lost_total; /* segments marked as lost in all; */
    uint32_t dsacks;     /* ... reported as duplicates (RFC 2883); */
    uint32_t reord_seen; /* ... overtaken by later ones */
    uint32_t undone;     /* window reductions that were undone, as nothing was lost */
    uint16_t reordering; /* largest reordering distance in segments, 3 to 300 */
    uint8_t ca_state;    /* 0 open, 1 disorder, 2 window reduced, 3 recovery, 4 after a timeout */
    uint8_t timeouts;    /* without progress since; */
    uint8_t backoff;     /* how many times they have doubled the RTO */
    uint8_t reserved[7];
    /* Of a flow from a listener, TOEDEV_CLAIM_*: an atomic exchange by the host before it accepts
     * the flow, a compare and swap by the TOE before it moves the flow away. The one field that the
     * host writes, and not covered by seq. */
    uint32_t claim;
};
#define TOEDEV_CLAIM_NONE 0u
#define TOEDEV_CLAIM_HOST 1u /* accepted: the TOE leaves it with this queue pair */
#define TOEDEV_CLAIM_TOE  2u /* moved: the final CLOSE_EVENT (STALE) follows */
_Static_assert(sizeof(struct toedev_flow_record) == TOEDEV_RECORD, "flow record");

/* Byte offsets in the area. */
struct toedev_layout {
    uint64_t doorbells, status, sw_ring, hw_ring, records, addresses, buffers, total;
    uint64_t stride; /* from a slot's buffers to the next one's */
};

/* Computes the layout. Returns 0, or -1 when the configuration is outside its ranges. */
int toedev_layout(const struct toedev_qp_config *cfg, struct toedev_layout *out);

/* The same for an area within a process, which no device sees: each slot's buffers begin one more
 * cache line further on. Buffer sizes are powers of two. Without the shift, flows that have moved
 * equally many bytes would all use the same few sets of a cache next. */
int toedev_layout_inside(const struct toedev_qp_config *cfg, struct toedev_layout *out);

/* Offset of a slot's send and receive buffer. */
static inline uint64_t toedev_tx_offset(const struct toedev_qp_config *cfg,
                                        const struct toedev_layout *l, uint32_t slot)
{
    (void)cfg;
    return l->buffers + slot * l->stride;
}
static inline uint64_t toedev_rx_offset(const struct toedev_qp_config *cfg,
                                        const struct toedev_layout *l, uint32_t slot)
{
    return toedev_tx_offset(cfg, l, slot) + cfg->tx_size;
}

#endif
