/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio.h - packets in and out. One struct netio is one queue of one interface, used by one thread.
 *
 * A back end is named by a specification string (README.md has all options):
 *   af_xdp:IFNAME[,queue=N][,mode=auto|native|generic][,copy=auto|copy|zero]
 *   tap:IFNAME[,host=A.B.C.D/LEN]     a TAP device (made when absent)
 *   wire:PATH[,side=a|b][,mtu=N]      shared-memory wire between two TOEs, no kernel in between
 *   dpdk:PORT[,queue=N][,eal=WORDS]   a port of DPDK (needs a build with -Ddpdk)
 *   pcap:in=FILE,out=FILE             files with nanosecond stamps; for replay and tests
 *   impair(OPTIONS):SPEC              any of the above through an impairing wire (impair.h)
 *   tee(FILE):SPEC                    any of the above, recorded to a pcap file
 *
 * Threads: one struct netio is used by one thread at a time; netio_open() and netio_close() of
 * different ones may run in different threads. netio_open() may take up to three seconds (af_xdp
 * waits for a predecessor to go); no other call blocks.
 *
 * A user's loop: netio_rx(), netio_rx_hold() where it likes, netio_rx_release(), also of no frame
 * when all are held, send, netio_tx_flush(), also when nothing was
 * sent; when idle, netio_prepare_sleep() and, if it returns 0, sleep until netio_fd() is readable
 * or netio_next_event() has come.
 */
#ifndef TOE_NETIO_H
#define TOE_NETIO_H

#include <stddef.h>
#include <stdint.h>

struct netio;

/* A part of a frame to send that lies elsewhere. */
struct netio_ref {
    const uint8_t *data;
    uint32_t len;
};

/*
 * A frame: memory of the back end. cap bytes from data may be written for sending.
 *
 * Sending, beyond the plain frame of len bytes at data. What is possible is said by the flags that
 * netio_tx_alloc() sets; the caller takes those it does not use away:
 * - NETIO_F_CSUM_PARTIAL: the word at csum_start + csum_offset holds the folded, not complemented
 *   sum of the pseudo-header, and the rest is up to the back end (as virtio has it).
 * - NETIO_F_SG: ref_count references follow the len bytes at data. Their memory is read until
 *   netio_tx_submit() returns, and no longer. The whole is at most info.tso_max + headers, or
 *   MTU-sized without TSO.
 * - NETIO_F_TSO: gso_size is the payload of a segment, hdr_len the bytes before the payload; with
 *   CSUM_PARTIAL. TCP over IPv4 and IPv6.
 * A received frame may be larger than the MTU when NETIO_O_LRO is on: gso_size is then that of the
 * segments it was made of, as far as is known, and 0 otherwise.
 */
struct netio_frame {
    uint8_t *data;
    uint32_t len;
    uint32_t cap;
    uint32_t flags; /* NETIO_F_* */
    uint32_t ref_count;
    uintptr_t token; /* the back end's own */
    uint16_t gso_size;
    uint16_t hdr_len;
    uint16_t csum_start, csum_offset;
    const struct netio_ref *refs;
};

/* Receive: the TCP/UDP checksum is verified or guaranteed by the medium (it may not be in the frame
 * at all). Send: the sender vouches for it; netio_tx_alloc() sets it where that matters (wire). */
#define NETIO_F_L4_CSUM_OK   1u
#define NETIO_F_CSUM_PARTIAL 2u
#define NETIO_F_SG           4u
#define NETIO_F_TSO          8u

#define NETIO_REFS_MAX 16u

/* What a back end can do for its user: netio_info.offered, and netio_set_features(). */
#define NETIO_O_RX_CSUM 1u  /* received frames may be marked NETIO_F_L4_CSUM_OK */
#define NETIO_O_TX_CSUM 2u  /* takes NETIO_F_CSUM_PARTIAL */
#define NETIO_O_SG      4u  /* takes NETIO_F_SG */
#define NETIO_O_TSO     8u  /* takes NETIO_F_TSO; needs TX_CSUM and SG */
#define NETIO_O_LRO     16u /* may receive segments joined to a large one; needs RX_CSUM, PARTIAL */
#define NETIO_O_RSS     32u /* spreads flows over queues by the hash of toec_rss_hash() */
#define NETIO_O_PARTIAL 64u /* may receive frames that have no checksum; with RX_CSUM */

struct netio_info {
    const char *mode; /* for people: "af_xdp native copy", "tap", ... */
    uint32_t mtu;
    uint32_t queues;   /* receive queues of the interface */
    uint32_t ifindex;  /* its number with the kernel; 0: it has none (wire, pcap) */
    uint32_t offered;  /* NETIO_O_* */
    uint32_t tso_max;  /* largest payload of a frame with NETIO_F_TSO */
    uint32_t hold_max; /* frames that netio_rx_hold() may keep at once; 0: it keeps none */
    uint8_t mac[6];
};

/* What a back end must be told about whom it receives for (af_xdp steers only this address). */
struct netio_config {
    uint8_t ip[4];  /* 0.0.0.0: none */
    int ip6;        /* not 0: IPv6 too; the addresses come by netio_set_ip6() */
    uint32_t queue; /* which receive queue, when the specification does not say */
    uint64_t seed;  /* of the impairing wire, when its options do not say */
    int shared;     /* not 0: the kernel has the addresses too, and all of them but the TCP ports
                     * of netio_take_port(); af_xdp alone */
    int heir;       /* 1 + the descriptor of netio_heir() of the process to take over from, or 0:
                     * none. It is taken over, also on failure. For the first queue alone */
};

struct netio_stats {
    uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes;
    uint64_t rx_dropped; /* by the back end or its kernel side: ring full, no buffer */
    uint64_t tx_dropped; /* submitted and not sent */
};

/* Opens a back end. On failure returns NULL and puts a sentence for people into err: what
 * happened, with which value, what to do. */
struct netio *netio_open(const char *spec, const struct netio_config *cfg, char *err,
                         size_t err_size);
void netio_close(struct netio *n);
/* From the thread that uses n; mode is valid until the next call with n. */
void netio_get_info(const struct netio *n, struct netio_info *out);
void netio_get_stats(const struct netio *n, struct netio_stats *out);

/*
 * Of what is offered, uses `wanted` from now on (NETIO_O_*; anything else is ignored; what lacks
 * what it needs is off) and returns what is in use. From the start that is RX_CSUM alone. Frames in
 * the caller's hands stay as they are.
 */
uint32_t netio_set_features(struct netio *n, uint32_t wanted);

/* The addresses of IPv6 to receive for, 16 bytes each, also those still tested for duplicates;
 * their groups follow from them. Replaces those given before. */
#define NETIO_IP6_MAX 8u
void netio_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count);

/* Of shared addresses: what of TCP to this port is received from now on, of IPv4 or of IPv6; 0:
 * nothing, it is the kernel's. Any thread; once says it for all queues of the interface. */
#define NETIO_TAKE        1u
#define NETIO_TAKE_OTHERS 2u /* ... but for connections that the kernel has, */
#define NETIO_TAKE_NO_SYN 4u /* ... and what opens new ones where the kernel has a listener */
#define NETIO_TAKE_SOME   8u /* of IPv6: at the addresses of netio_take_place() alone */
void netio_take_port(struct netio *n, int ip6, uint16_t port, unsigned how);
/* That port at that address of IPv6 is received, or not any more. 0, or -1: there is no room. */
int netio_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on);

/*
 * Is all of it still in its place? For whoever looks after the interface, now and then and from one
 * thread, whichever uses n; once says it for all queues. 0: it is; 1: somebody had undone a part,
 * and it is done again; -1: it cannot be, and nothing comes any more. Except for 0 a sentence
 * stands in text.
 */
int netio_tend(struct netio *n, char *text, size_t text_size);

/*
 * For a process that takes over from another one, while no frame meant for it reaches the kernel.
 * heir: the descriptor that it needs (n keeps it: duplicate it), -1: it needs none. It opens with
 * that, after the other one has closed, enters its ports (netio_take_port()) and settles: from then
 * on it has what comes. 0, or -1 and a sentence. Without an heir nothing happens.
 */
int netio_heir(const struct netio *n);
int netio_settle(struct netio *n, char *err, size_t err_size);

/* Receives up to max frames without blocking. The frames are the caller's until released. */
unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns);
void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count);

/*
 * Keeps a received frame beyond its batch. 0: the frame, with its memory, stays the caller's, must
 * not be in a netio_rx_release() and is given back by netio_rx_unhold(), one call for each frame,
 * by its token, in any order; all of them before netio_close(). -1: this one cannot be kept
 * (info.hold_max are, or all that the back end can do without; or its memory is not of a kind that
 * can be kept), and is to be released as ever. What is kept never stops the back end from receiving
 * or sending. From the thread that uses n, as all calls.
 */
int netio_rx_hold(struct netio *n, const struct netio_frame *frame);
void netio_rx_unhold(struct netio *n, uintptr_t token);

/* A buffer to fill for sending; -1 when there is none now (then try again after the next flush or
 * netio_next_event()). data is not cleared; data and cap may not be changed. Must be followed by
 * netio_tx_submit() or netio_tx_cancel() before the next netio_tx_alloc(). */
int netio_tx_alloc(struct netio *n, struct netio_frame *frame);
void netio_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns);
void netio_tx_cancel(struct netio *n, const struct netio_frame *frame);
/* Hands what was submitted to the medium (one system call a batch at most, where one is needed). */
void netio_tx_flush(struct netio *n, uint64_t now_ns);

/* For sleeping: a descriptor that becomes readable when frames arrive (-1: none, must be polled),
 * and the next time the back end itself wants to be called (impairment delays), UINT64_MAX: none.
 */
int netio_fd(const struct netio *n);
/* Before sleeping: makes sure that an arrival from now on wakes netio_fd(). Returns 1 when frames
 * already wait or netio_next_event() may have changed (do not sleep), 0 otherwise. */
int netio_prepare_sleep(struct netio *n);
uint64_t netio_next_event(const struct netio *n);

#endif
