/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - a stack under test: memory, virtual time, a wire that records sent frames, and a TCP
 * that records its input. Frames are built and parsed by separate functions, so that an error in
 * core/'s wire layer is not repeated here.
 */
#ifndef BENCH_H
#define BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ip/stack.h"

#define SEC  1000000000ull
#define MSEC 1000000ull

#define OWN_IP  0x0a000001u /* 10.0.0.1/24 */
#define PEER_IP 0x0a000002u
#define GW_IP   0x0a0000feu
#define FAR_IP  0xc0a80101u /* beyond the gateway */

extern const uint8_t own_mac[6], peer_mac[6], other_mac[6], broadcast_mac[6];

struct sent {
    uint32_t len;
    int local; /* toec_tx.local */
    uint8_t data[2048];
};

#define MAX_SENT 4096
struct bench {
    struct toec_stack *s;
    void *mem;
    toec_time now;
    struct sent *sent; /* frames transmitted and not yet returned by bench_next() */
    unsigned sent_count, sent_read;
    int tx_room;       /* frames that transmit accepts before it refuses; -1: any number */
    uint32_t head_len; /* contiguous bytes of input frames; 0: all */
    /* TCP's input. */
    unsigned tcp_inputs, tcp_errors, tcp_timers;
    struct toec_ip_in tcp_in;
    uint8_t tcp_data[65536];
    uint32_t tcp_flags; /* of the packet */
    struct toec_icmp_err tcp_err;
    struct toec_config cfg;
};

/* A stack at 10.0.0.1/24 with gateway 10.0.0.254; changes to b->cfg before bench_start() count. */
void bench_config(struct bench *b);
void bench_start(struct bench *b);
void bench_stop(struct bench *b);
/* bench_config(), bench_start(), the announcements sent and forgotten. */
void bench_init(struct bench *b);

void bench_input(struct bench *b, const void *frame, uint32_t len);
toec_time bench_poll(struct bench *b);
/* Lets time pass, polling at every deadline on the way. */
void bench_pass(struct bench *b, toec_time ns);
/* Next frame sent, or 0. */
const struct sent *bench_next(struct bench *b);
void bench_forget_sent(struct bench *b);
uint64_t bench_counter(const struct bench *b, enum toec_counter c);

/* The mapped form of an IPv4 address; good for eight more calls. */
const struct toec_addr *mapped(uint32_t ip);

/* ---- frames ---- */

uint16_t naive_sum(const uint8_t *p, size_t n); /* RFC 1071 over big-endian words, complemented */
void poke16(uint8_t *p, uint32_t v);
void poke32(uint8_t *p, uint32_t v);
uint32_t peek16(const uint8_t *p);
uint32_t peek32(const uint8_t *p);

/* ARP from sha/spa about tpa, to the broadcast address for requests. Returns the length. */
uint32_t make_arp(uint8_t *f, int op, const uint8_t *sha, uint32_t spa, const uint8_t *tha,
                  uint32_t tpa);
struct ip4_spec {
    uint32_t src, dst;
    uint8_t proto, ttl;
    uint16_t id, frag; /* frag: flags and offset word */
    const uint8_t *options;
    uint32_t options_len;
};
/* An IPv4 frame from peer_mac with this payload; checksum right. Returns the length. */
uint32_t make_ip4(uint8_t *f, const struct ip4_spec *spec, const void *payload, uint32_t len);
/* Sets the header checksum right after changes. */
void fix_ip4(uint8_t *f);
/* ICMP message into p: checksum right. Returns the length. */
uint32_t make_icmp(uint8_t *p, int type, int code, uint32_t rest, const void *data, uint32_t len);
/* The peer sends an ARP request for our address, so that its entry is learned; the reply is
 * discarded. */
void bench_learn(struct bench *b, const uint8_t *mac, uint32_t ip);

#endif
