/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ao.h - TCP-AO, the TCP Authentication Option (RFC 5925, RFC 5926), for integrators who need it:
 * each segment of a connection with keys carries a code (MAC) over header and payload, made with
 * keys of this connection alone, and what carries none, or a wrong one, is dropped silently and
 * counted.
 *
 * Only of stacks with toec_config.max_ao_keys; in others the option is one that is not known. A
 * master key tuple (MKT, RFC 5925 3.1) belongs to a connection or to a listener, as on Linux
 * (TCP_AO_ADD_KEY): local address and ports are theirs. What a listener makes has copies of those
 * of its keys that match the peer; a peer that one matches is heard with TCP-AO alone.
 *
 * Connections with TCP-AO do without segmentation offload (each segment has a MAC of its own; so
 * what receives must not join segments with option 29), Fast Open and SYN cookies. A SYN whose MAC
 * is right is taken though the backlog is full. What belongs to no connection is answered by no
 * reset when it carries the option (RFC 5925 7.7). 16 of the 40 bytes of options are taken.
 *
 * Keys stand in the memory of the stack, and in its images (toec_save()), never anywhere else; what
 * is freed is overwritten.
 */
#ifndef TOE_AO_H
#define TOE_AO_H

#include <toe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toec_stack;
struct toec_tcb;

enum toec_ao_alg {
    TOEC_AO_HMAC_SHA1 = 1, /* KDF_HMAC_SHA1, HMAC-SHA-1-96: "hmac(sha1)" of Linux */
    TOEC_AO_AES_CMAC       /* KDF_AES_128_CMAC, AES-128-CMAC-96: "cmac(aes128)" */
};

#define TOEC_AO_SECRET_MAX 80u /* bytes of a master key, as Linux has it */

/* toec_ao_mkt.flags */
#define TOEC_AO_NO_OPTIONS 1u /* the MAC covers no other option (RFC 5925 3.1, TCP option flag) */
/* ... of a connection: segments are sent with this key from now on, or the peer is asked to. */
#define TOEC_AO_SET_CURRENT 2u
#define TOEC_AO_SET_RNEXT   4u

/* A master key tuple. */
struct toec_ao_mkt {
    struct toec_addr remote; /* the first `prefix` bits of the peer's address; IPv4: mapped, its
                              * prefix counts from the first bit of IPv4 */
    toec_u8 prefix;          /* 0: every peer of this family */
    toec_u16 remote_port;    /* 0: any */
    toec_u8 send_id;         /* KeyID of segments sent */
    toec_u8 recv_id;         /* KeyID of segments received */
    toec_u8 flags;           /* TOEC_AO_* */
    enum toec_ao_alg alg;
    const toec_u8 *secret; /* the master key; copied */
    unsigned secret_len;   /* 1..TOEC_AO_SECRET_MAX */
};

/*
 * One more key. Returns 0; TOEC_E_INVAL: no such algorithm or length, the key does not match the
 * peer, or the first one of a connection does not come right after toec_connect(), before
 * toec_poll() and without toec_fastopen(); TOEC_E_INUSE: another key that matches the same peers
 * has one of the two numbers; TOEC_E_NOBUFS: all toec_config.max_ao_keys are in use. A connection's
 * first key is current and RNext.
 */
int toec_ao_add(struct toec_stack *s, struct toec_tcb *flow, const struct toec_ao_mkt *key);
int toec_listen_ao_add(struct toec_stack *s, toec_u32 id, const struct toec_ao_mkt *key);
/* Forgets a key: 0; TOEC_E_INVAL: there is none; TOEC_E_INUSE: it is current, or RNext. */
int toec_ao_delete(struct toec_stack *s, struct toec_tcb *flow, toec_u8 send_id, toec_u8 recv_id);
/* ... of a listener, that was added with this address and prefix. Connections keep theirs. */
int toec_listen_ao_delete(struct toec_stack *s, toec_u32 id, const struct toec_addr *remote,
                          toec_u8 prefix, toec_u8 send_id, toec_u8 recv_id);
/* Changes over (RFC 5925 6.1): sends with the key of send_id; asks the peer for that of recv_id,
 * -1: as before. 0; TOEC_E_INVAL: there is no such key, nothing has changed. */
int toec_ao_use(struct toec_stack *s, struct toec_tcb *flow, int send_id, int recv_id);
/* Not 0: ICMP errors are heeded as without TCP-AO. Default 0 (RFC 5925 7.8). TOEC_E_INVAL: the
 * connection has no key. */
int toec_ao_accept_icmp(struct toec_stack *s, struct toec_tcb *flow, int accept);

/* Of one connection; the counts as in struct tcp_ao_info_opt of Linux. */
struct toec_ao_info {
    toec_u32 keys;
    toec_u8 current; /* send_id of the key that is sent with */
    toec_u8 rnext;   /* recv_id of the key that the peer is asked for */
    toec_u8 accept_icmp;
    toec_u64 good, bad, no_key, missing, icmp_ignored;
};
/* 0; TOEC_E_INVAL: the connection has no key. */
int toec_ao_info(const struct toec_stack *s, const struct toec_tcb *flow, struct toec_ao_info *out);

/* ---- for the functions of struct toec_ao_ops (port.h) ---- */

struct toec_mac;
/* The next n bytes of payload. */
void toec_ao_feed(struct toec_mac *mac, const void *data, toec_u32 n);

#ifdef __cplusplus
}
#endif

#endif
