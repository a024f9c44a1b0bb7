/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_seg.h - a parsed TCP segment. toec_tcp_input() parses it from a datagram; hardware or another
 * core may fill it and pass it to toec_tcp_segment() (tcp_if.h).
 */
#ifndef TOEC_TCP_SEG_H
#define TOEC_TCP_SEG_H

#include "../ip/ip.h"

struct toec_ao;

/* Sequence interval [start, end). */
struct toec_iv {
    toec_u32 start, end;
};

/* Identifies a connection (RFC 9293 3.3.1: a pair of sockets). The addresses are not owned. */
struct toec_tuple {
    const struct toec_addr *local, *remote;
    toec_u16 local_port, remote_port;
};

/* A parsed segment. Trimming to the window updates its sequence numbers and lengths. */
struct toec_seg {
    const struct toec_packet *pkt;
    const toec_u8 *header; /* TCP header with its options, contiguous */
    struct toec_tuple id;  /* this stack is the local end */
    toec_u32 seq, ack;
    toec_u32 off; /* offset of the payload in the frame */
    toec_u32 len; /* payload bytes */
    toec_u32 wnd; /* not scaled */
    unsigned flags;
    toec_u32 tsval, tsecr;
    toec_u16 mss; /* 0: absent */
    toec_u8 tos;  /* of the IP header: DSCP and ECN */
    toec_u8 has_ts;
    toec_u8 sack_ok;
    toec_u8 unscaled; /* wnd is from a SYN-ACK (RFC 7323 2.2) whose SYN has been processed */
    toec_u8 has_wscale, wscale;
    toec_u8 n_sack;
    struct toec_iv sack[4];
    toec_u16 urg;           /* urgent pointer; valid only with URG */
    toec_u16 uto;           /* user timeout option (RFC 5482); 0: absent */
    toec_u8 has_fo, fo_len; /* Fast Open cookie (RFC 7413), in the frame */
    toec_u8 fo_exp;         /* ... by the experimental option; valid with has_fo */
    const toec_u8 *fo;
    toec_u8 ao_n;         /* TOEC_AO_COUNT, TOEC_AO_MD5 */
    const toec_u8 *ao;    /* with ao_n: the option (RFC 5925), in the frame */
    struct toec_ao *auth; /* state that verified its MAC and signs its answer; 0: no TCP-AO */
    toec_u32 hash;        /* of the 4-tuple, for the flow table */
};

#endif
