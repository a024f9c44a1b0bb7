/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio.h - packets in and out. One struct netio is one queue of one interface, used by one thread.
 *
 * A back end is named by a specification string (README.md has all options):
 *   af_xdp:IFNAME[,queue=N][,mode=auto|native|generic][,copy=auto|copy|zero]
 *   tap:IFNAME[,host=A.B.C.D/LEN]     a TAP device (created when absent)
 *   wire:PATH[,side=a|b][,mtu=N]      shared-memory wire between two TOEs, no kernel in between
 *   dpdk:PORT[,queue=N][,eal=WORDS]   a port of DPDK (needs a build with -Ddpdk)
 *   pcap:in=FILE,out=FILE             files with nanosecond stamps; for replay and tests
 *   impair(OPTIONS):SPEC              any of the above through an impairing wire (impair.h)
 *   tee(FILE):SPEC                    any of the above, recorded to a pcap file
 *   workers(N):SPEC                   one queue for up to N processes of one address
 *
 * Threads: one struct netio is used by one thread at a time; netio_open() and netio_close() of
 * different ones may run in different threads. netio_open() may take up to three seconds (af_xdp
 * waits until a predecessor has detached); no other call blocks.
 *
 * A user's loop: netio_rx(); netio_rx_hold() for frames it keeps; netio_rx_release(), even if all
 * frames are held; send; netio_tx_flush(), even if nothing was sent. When idle:
 * netio_prepare_sleep() and, if it returns 0, sleep until netio_fd() is readable or the time of
 * netio_next_event().
 */
#ifndef TOE_NETIO_H
#define TOE_NETIO_H

#include <stddef.h>
#include <stdint.h>

struct netio;

/* A part of a frame to send that is outside the frame's buffer. */
struct netio_ref {
    const uint8_t *data;
    uint32_t len;
};

/*
 * A frame: memory of the back end. For sending, cap bytes from data may be written.
 *
 * Sending more than a plain frame of len bytes at data: netio_tx_alloc() sets the flags that are
 * possible, and the caller clears those that it does not use:
 * - NETIO_F_CSUM_PARTIAL: the word at csum_start + csum_offset holds the folded, not complemented
 *   sum of the pseudo-header. The back end completes the checksum (as in virtio).
 * - NETIO_F_SG: ref_count references follow the len bytes at data. Their memory is read only until
 *   netio_tx_submit() returns. The frame is at most info.tso_max + headers, or MTU-sized without
 *   TSO.
 * - NETIO_F_TSO: gso_size is the payload of a segment, hdr_len the bytes before the payload. Needs
 *   CSUM_PARTIAL. For TCP over IPv4 and IPv6.
 * A received frame may be larger than the MTU when NETIO_O_LRO is on: gso_size is then that of the
 * segments it was made of, or 0 if that is not known.
 */
struct netio_frame {
    uint8_t *data;
    uint32_t len;
    uint32_t cap;
    uint32_t flags; /* NETIO_F_* */
    uint32_t ref_count;
    uintptr_t token; /* private to the back end */
    uint16_t gso_size;
    uint16_t hdr_len;
    uint16_t csum_start, csum_offset;
    const struct netio_ref *refs;
};

/* Receive: the medium has verified or guarantees the TCP/UDP checksum, which may be missing in the
 * frame. Send: the sender guarantees it; netio_tx_alloc() sets the flag where it matters (wire). */
#define NETIO_F_L4_CSUM_OK   1u
#define NETIO_F_CSUM_PARTIAL 2u
#define NETIO_F_SG           4u
#define NETIO_F_TSO          8u

#define NETIO_REFS_MAX 16u

/* Features of a back end: for netio_info.offered and netio_set_features(). */
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
    uint32_t ifindex;  /* the kernel's interface number; 0: none (wire, pcap) */
    uint32_t offered;  /* NETIO_O_* */
    uint32_t tso_max;  /* largest payload of a frame with NETIO_F_TSO */
    uint32_t hold_max; /* most frames that netio_rx_hold() may keep at once; 0: it keeps none */
    int flush_calls;   /* not 0: netio_tx_flush() is a system call if there are frames to send */
    uint32_t worker, workers; /* workers(N): this one's number, and N; else 0 */
    uint32_t standby;         /* for netio_config.standby of another process; 0: not possible */
    int tended;               /* not 0: netio_tend() can find something, even without an ifindex */
    uint8_t mac[6];
};

/* The group of processes of workers(N). */
#define NETIO_CLAIMS 3u
struct netio_group {
    const char *path; /* of a file for their shared memory; the last one removes it */
    /* Names of abstract Unix sockets. The process that steers binds them, and listens on the first
     * one; so no other program of the network namespace uses the interface or the addresses. NULL:
     * no further one. */
    const char *claims[NETIO_CLAIMS];
};

/* The addresses that a back end receives for (af_xdp steers only these), and its other settings. */
struct netio_config {
    uint8_t ip[4];  /* 0.0.0.0: none */
    int ip6;        /* not 0: IPv6 too; netio_set_ip6() sets the addresses */
    uint32_t queue; /* the receive queue, if the specification names none */
    uint64_t seed;  /* of the impairing wire, if its options name none */
    uint16_t vlan;  /* 1 to 4094: the frames are those of this VLAN (IEEE 802.1Q) and carry its tag,
                     * in both directions; the user inserts and removes it. af_xdp receives no
                     * others. 0: no VLAN */
    int shared;     /* not 0: the kernel has the addresses too and receives for them, except for the
                     * TCP ports of netio_take_port(); af_xdp only */
    int heir;       /* 1 + the descriptor of netio_heir() of the process to take over from, or 0:
                     * none. netio_open() owns the descriptor, also on failure. For the first queue
                     * only */
    const struct netio_group *group; /* of workers(N), copied; NULL: workers(N) is refused */
    uint32_t standby; /* not 0: prepares only, with the rights of now, to take the queue over from
                       * another process by netio_activate(): netio_info.standby there */
};

struct netio_stats {
    uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes;
    uint64_t rx_dropped; /* by the back end or its kernel side: ring full, no buffer */
    uint64_t tx_dropped; /* submitted and not sent */
};

/* Opens a back end. On failure returns NULL and writes a sentence for people into err: what
 * happened, with which value, what to do. */
struct netio *netio_open(const char *spec, const struct netio_config *cfg, char *err,
                         size_t err_size);
void netio_close(struct netio *n);
/* Call it from the thread that uses n; mode is valid until the next call with n. */
void netio_get_info(const struct netio *n, struct netio_info *out);
void netio_get_stats(const struct netio *n, struct netio_stats *out);

/*
 * Enables those of the offered features that are in `wanted` (NETIO_O_*; other bits are ignored)
 * and disables the rest. A feature whose prerequisites are missing stays off. Returns the features
 * in use. At first only RX_CSUM is on. Frames in the caller's hands do not change.
 */
uint32_t netio_set_features(struct netio *n, uint32_t wanted);

/* Sets the IPv6 addresses to receive for, 16 bytes each, including those still tested for
 * duplicates. Their groups are derived from them. Replaces the previous ones. */
#define NETIO_IP6_MAX 8u
void netio_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count);

/* For shared addresses: sets which TCP segments to this port are received from now on, over IPv4 or
 * over IPv6. 0: none, the port is the kernel's. May be called from any thread; one call is for all
 * queues of the interface. */
#define NETIO_TAKE        1u
#define NETIO_TAKE_OTHERS 2u /* ... except those of the kernel's connections, */
#define NETIO_TAKE_NO_SYN 4u /* ... and except SYNs where the kernel has a listener */
#define NETIO_TAKE_SOME   8u /* of IPv6: only at the addresses of netio_take_place() */
void netio_take_port(struct netio *n, int ip6, uint16_t port, unsigned how);
/* Starts or stops receiving that port at that IPv6 address. Returns 0, or -1 when there is no room.
 */
int netio_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on);

/*
 * Checks that the interface is still there and the back end attached to it. Call it periodically
 * from one thread, which need not be the one that uses n; one call is for all queues. Returns 0 if
 * all is in place; 1 if another program had undone a part, which is now restored; -1 if it cannot
 * be restored, so no more frames arrive. Except for 0, text has a sentence.
 */
int netio_tend(struct netio *n, char *text, size_t text_size);

/* Takes the queue over: the process that had it has ended. Once, for a back end opened with
 * netio_config.standby; before it, nothing but netio_close() may be called. Returns 0, or -1 and a
 * sentence; it may be called again then. */
int netio_activate(struct netio *n, char *err, size_t err_size);

/* Of workers(N): reports whether this process listens on the port, over IPv4 or over IPv6, so that
 * new connections are steered to it; WEAK: only while no other process serves the port. */
#define NETIO_LISTEN_NOT    0u
#define NETIO_LISTEN_WEAK   1u
#define NETIO_LISTEN_SERVES 2u
void netio_listens(struct netio *n, int ip6, uint16_t port, unsigned how);
/* In a child after fork(): closes descriptors that would keep claims of the parent alive. n must
 * not be used again, nor closed. */
void netio_forget(struct netio *n);

/*
 * For a process that takes over from another one, without any of its frames reaching the kernel in
 * between. netio_heir() returns the descriptor that the new process needs (n keeps it: duplicate
 * it), or -1 if it needs none. The new process opens with that descriptor after the other one has
 * closed, enters its ports (netio_take_port()) and calls netio_settle(). From then on it receives
 * the frames. Returns 0, or -1 and a sentence. Without a descriptor netio_settle() does nothing.
 */
int netio_heir(const struct netio *n);
int netio_settle(struct netio *n, char *err, size_t err_size);

/* Receives up to max frames without blocking. The frames are the caller's until released. */
unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns);
void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count);

/*
 * Keeps a received frame beyond its batch. Returns 0: the frame, with its memory, stays the
 * caller's and must not be passed to netio_rx_release(). The caller returns it with
 * netio_rx_unhold(), one call per frame, by its token, in any order, before netio_close(). Returns
 * -1: this frame cannot be kept and must be released with its batch. Either info.hold_max frames
 * are kept, or all that the back end can spare, or its memory is not of a kind that can be kept.
 * Kept frames never stop the back end from receiving or sending. Call it from the thread that uses
 * n, as all functions.
 */
int netio_rx_hold(struct netio *n, const struct netio_frame *frame);
void netio_rx_unhold(struct netio *n, uintptr_t token);

/* Gets a buffer to fill for sending. Returns -1 when there is none now: try again after the next
 * flush or netio_next_event(). data is not cleared; data and cap may not be changed.
 * netio_tx_submit() or netio_tx_cancel() must follow before the next netio_tx_alloc(). */
int netio_tx_alloc(struct netio *n, struct netio_frame *frame);
void netio_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns);
void netio_tx_cancel(struct netio *n, const struct netio_frame *frame);
/* Hands the submitted frames to the medium (with at most one system call per batch, where one is
 * needed). */
void netio_tx_flush(struct netio *n, uint64_t now_ns);

/* For sleeping: netio_fd() returns a descriptor that becomes readable when frames arrive (-1: none,
 * must be polled). netio_next_event() returns the next time the back end itself must be called
 * (impairment delays), UINT64_MAX: none.
 */
int netio_fd(const struct netio *n);
/* Call it before sleeping: ensures that an arrival from now on makes netio_fd() readable. Returns 1
 * when frames already wait or netio_next_event() may have changed (do not sleep), 0 otherwise. */
int netio_prepare_sleep(struct netio *n);
/* While on, arrivals make netio_fd() readable after netio_prepare_sleep() however many frames were
 * received since: other threads sleep on netio_fd() while this one calls netio_rx(). While off, as
 * at first, a back end may stop that after some frames, until the next netio_prepare_sleep(). */
void netio_keep_waking(struct netio *n, int on);
uint64_t netio_next_event(const struct netio *n);

#endif
