/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcpsim.h - TCP under test in virtual time: whole stacks with applications that check every byte,
 * joined by a link that loses, delays, reorders, duplicates and corrupts frames; or one stack
 * against crafted segments.
 */
#ifndef TCPSIM_H
#define TCPSIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <toe/core.h>
#include <toe/counters.h>

#include "frames.h"
#include "memimage.h"
#include "random.h"

#define SEC  1000000000ull
#define MSEC 1000000ull
#define USEC 1000ull

#define IP_A 0x0a000001u /* host 0 */
#define IP_B 0x0a000002u /* host 1, or the crafted peer */

#define F_FIN 1u
#define F_SYN 2u
#define F_RST 4u
#define F_PSH 8u
#define F_ACK 16u
#define F_URG 32u
#define F_ECE 64u
#define F_CWR 128u

struct sim;
struct host;

/* One connection as its application sees it. */
struct conn {
    struct host *host;
    struct toec_tcb *flow; /* 0 after GONE */
    uint8_t *tx, *rx;
    uint32_t tx_size, rx_size;
    uint64_t sent, acked;      /* bytes announced, acknowledged */
    uint64_t received, read;   /* bytes in order, read */
    uint64_t goal;             /* bytes to send in all */
    uint32_t tx_seed, rx_seed; /* of the byte pattern each way */
    int established, peer_closed, gone, shut, closed;
    uint32_t gone_reason, error;
    int waits;          /* TOEC_REUSE_* of the TIME-WAIT entry that it left; -1: none */
    unsigned urgent;    /* notifications of urgent data */
    uint32_t urgent_at; /* ... and where it ends, last */
    uint16_t local_port, remote_port;
    struct conn *next;
};

struct host {
    struct sim *sim;
    unsigned index;
    struct toec_stack *stack;
    void *mem;
    unsigned long mem_size;
    struct toec_config cfg;
    uint32_t tx_buf, rx_buf; /* buffer sizes of new connections */
    struct conn *conns;      /* all ever opened */
    unsigned opened, open_now, refuse_opens, max_open;
    toec_time deadline;
    unsigned tx_fail_1024; /* chance that transmit has no room */
    int tx_room;           /* frames transmit accepts; -1: any number */
};

/* Chances out of 1024. */
struct impair {
    unsigned lose, duplicate, corrupt, reorder;
    toec_time delay, jitter, reorder_by;
};

struct sim {
    struct host host[2];
    unsigned hosts;
    toec_time now;
    struct impair impair;
    struct frames net; /* on the link */
    uint64_t delivered;
    /* crafted mode: frames of host 0 are kept here instead of delivered */
    int crafted;
    struct frame *sent[4096];
    unsigned sent_n, sent_read;
    toec_time retry;            /* delay before a retry when transmit has no room; 10 us */
    int peer_silent, arp_asked; /* the crafted peer answers ARP unless silent */
    uint32_t place_violations;
    /* Crafted frames carry this TOS. */
    uint8_t peer_tos;
    /* A middlebox between the hosts, beside the impairments: sees and may change each frame.
     * Returns the extra delay, or -1 to drop it. */
    int64_t (*router)(struct sim *s, unsigned from, uint8_t *frame, uint32_t len);
    void *router_state;
    /* In front of toec_input(): returns not 0 when it has given the frame to the host's stack. */
    int (*takes)(struct sim *s, struct host *h, const struct toec_packet *p);
};

/* Not 0: the hosts of sim_init() talk IPv6 alone, fd00::1 and fd00::2; so does a crafted peer. */
extern int sim_ip6;

void sim_init(struct sim *s, unsigned hosts);
/* Starts the stacks with host[i].cfg, which may be changed between. */
void sim_start(struct sim *s);
void sim_stop(struct sim *s);
/* Runs to the next event; 0 when there is none before `until`. */
int sim_step(struct sim *s, toec_time until);
void sim_run(struct sim *s, toec_time duration);
uint64_t sim_count(const struct sim *s, unsigned host, enum toec_counter c);
/* c sends until `goal` bytes are acknowledged, and its peer reads, for at most limit. Returns the
 * duration. */
toec_time sim_transfer(struct sim *s, struct conn *c, uint64_t goal, toec_time limit);
/* No state remains: every flow GONE once, pools full. */
void sim_assert_clean(struct sim *s);

struct conn *sim_connect(struct sim *s, unsigned from, uint16_t port);
struct conn *sim_connect_from(struct sim *s, unsigned from, uint32_t local_port, uint16_t port,
                              int *result);
void sim_listen(struct sim *s, unsigned host, uint16_t port, uint32_t backlog, uint32_t *id);
/* Writes up to n bytes of the pattern; returns the number that fitted. */
uint32_t conn_write(struct conn *c, uint32_t n, int push);
/* Reads up to n bytes and checks them. */
uint32_t conn_read(struct conn *c, uint32_t n);
void conn_shutdown(struct conn *c);
void conn_close(struct conn *c);
void conn_abort(struct conn *c);
/* For toec_config.ao: shows the payload of these connections. */
extern const struct toec_ao_ops sim_ao;
/* The passive end of an active connection, or 0. */
struct conn *conn_peer(struct conn *c);

/* ---- tcphand.c ---- */

void image_save(struct image *m, const struct host *h);
/* Restores the host's stack from the image; returns NULL, or the error. */
const char *image_restore(const struct image *m, struct host *h);
/* Both; saved again, the image is the same. */
void sim_hand_over(struct host *h);

/* ---- crafted segments ---- */

/* A segment as sent or received, in host order. */
struct tseg {
    uint32_t seq, ack, wnd;
    unsigned flags;
    uint32_t len; /* payload */
    const uint8_t *payload;
    uint16_t sport, dport;
    int mss, wscale, sack_ok, has_ts; /* mss, wscale -1: absent */
    uint32_t tsval, tsecr;
    unsigned n_sack;
    uint32_t sack[4][2];
    uint16_t urg;
    int fo_len; /* of the Fast Open option's cookie; -1: absent */
    uint8_t fo[16];
    unsigned uto;          /* user timeout option in wire format, 0: absent */
    uint32_t payload_seed; /* of the pattern put into crafted payload, at stream offset below */
    uint64_t payload_at;
    uint8_t tos; /* as received */
    int df;
};

/* One stack (host 0) and a crafted peer at IP_B whose Ethernet address it knows. */
void craft_init(struct sim *s);
void craft_start(struct sim *s);
/* Both, and a listener on port 80. */
void craft_listen(struct sim *s);
struct tseg seg_make(uint16_t sport, uint16_t dport, unsigned flags, uint32_t seq, uint32_t ack);
void craft_send(struct sim *s, const struct tseg *g);
/* ... and polls. */
void craft_say(struct sim *s, const struct tseg *g);
/* Sends raw TCP bytes (header and all) from the peer; the checksum is completed. */
void craft_send_raw(struct sim *s, const uint8_t *tcp, uint32_t len);
void craft_icmp(struct sim *s, unsigned type, unsigned code, uint32_t rest,
                const struct tseg *quoted);
/* ICMPv6 to host 0 from src (NULL: the peer), its checksum completed. */
void craft_icmp6(struct sim *s, const uint8_t *src, unsigned hops, const uint8_t *message,
                 uint32_t len);
/* toec_poll() now. */
void craft_poll(struct sim *s);
/* Lets time pass, polling at the deadlines. */
void craft_pass(struct sim *s, toec_time ns);
/* Frees the frames sent so far. */
void craft_forget(struct sim *s);
/* The next TCP segment that host 0 sent: 1 with *g, or 0 when there is none. */
int craft_next(struct sim *s, struct tseg *g);
/* Delivers a frame from a third host (a router) now. */
void sim_inject(struct sim *s, unsigned to, const uint8_t *frame, uint32_t len);
/* Fails the test unless a segment was sent; returns it. */
struct tseg craft_expect(struct sim *s);
void craft_expect_none(struct sim *s);

#endif
