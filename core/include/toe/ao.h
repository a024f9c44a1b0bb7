/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ao.h - TCP-AO, the TCP Authentication Option (RFC 5925, RFC 5926), for integrators that need it.
 * Each segment of a connection with keys carries a message authentication code (MAC) over header
 * and payload, computed with keys of this connection. Segments without a MAC, or with a wrong one,
 * are dropped silently and counted.
 *
 * Available when toec_config.max_ao_keys is not 0; other stacks treat the option as unknown. A
 * master key tuple (MKT, RFC 5925 3.1) belongs to a connection or to a listener, as on Linux
 * (TCP_AO_ADD_KEY), which determines its local address and ports. A new passive connection copies
 * those keys of its listener that match the peer. A listener accepts a peer that matches one of its
 * keys with TCP-AO only.
 *
 * Connections with TCP-AO do not use segmentation offload, Fast Open or SYN cookies. Each segment
 * has its own MAC, so receive offloads must not merge segments with option 29. A SYN with a valid
 * MAC is accepted even when the backlog is full. A segment with the option that belongs to no
 * connection is not answered with a reset (RFC 5925 7.7). The option takes 16 of the 40 bytes of
 * TCP options.
 *
 * Keys are stored only in the memory of the stack and in its images (toec_save()). Freed keys are
 * overwritten.
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

#define TOEC_AO_SECRET_MAX 80u /* bytes of a master key, as on Linux */

/* toec_ao_mkt.flags */
#define TOEC_AO_NO_OPTIONS 1u /* the MAC covers no other option (RFC 5925 3.1, TCP option flag) */
/* Of a connection: send with this key from now on (current), or request it from the peer (RNext).
 */
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
 * Adds a key. Returns 0; TOEC_E_INVAL: unknown algorithm or length, the key does not match the
 * peer, or the first key of a connection is not added right after toec_connect(), before
 * toec_poll() and without toec_fastopen(); TOEC_E_INUSE: another key that matches the same peers
 * has one of the two KeyIDs; TOEC_E_NOBUFS: all toec_config.max_ao_keys are in use. A connection's
 * first key becomes current and RNext.
 */
int toec_ao_add(struct toec_stack *s, struct toec_tcb *flow, const struct toec_ao_mkt *key);
int toec_listen_ao_add(struct toec_stack *s, toec_u32 id, const struct toec_ao_mkt *key);
/* Deletes a key. Returns 0; TOEC_E_INVAL: no such key; TOEC_E_INUSE: the key is current or RNext.
 */
int toec_ao_delete(struct toec_stack *s, struct toec_tcb *flow, toec_u8 send_id, toec_u8 recv_id);
/* Deletes a listener's key, identified by the address and prefix it was added with. Connections
 * keep their copies. */
int toec_listen_ao_delete(struct toec_stack *s, toec_u32 id, const struct toec_addr *remote,
                          toec_u8 prefix, toec_u8 send_id, toec_u8 recv_id);
/* Changes keys (RFC 5925 6.1): sends with the key of send_id and requests the key of recv_id from
 * the peer; -1: unchanged. Returns 0, or TOEC_E_INVAL: no such key, nothing has changed. */
int toec_ao_use(struct toec_stack *s, struct toec_tcb *flow, int send_id, int recv_id);
/* With accept not 0, processes ICMP errors as without TCP-AO. Default 0 (RFC 5925 7.8). Returns
 * TOEC_E_INVAL if the connection has no key. */
int toec_ao_accept_icmp(struct toec_stack *s, struct toec_tcb *flow, int accept);

/* State of one connection; the counts are those of struct tcp_ao_info_opt of Linux. */
struct toec_ao_info {
    toec_u32 keys;
    toec_u8 current; /* send_id of the key used for sending */
    toec_u8 rnext;   /* recv_id of the key requested from the peer */
    toec_u8 accept_icmp;
    toec_u64 good, bad, no_key, missing, icmp_ignored;
};
/* Returns 0, or TOEC_E_INVAL: the connection has no key. */
int toec_ao_info(const struct toec_stack *s, const struct toec_tcb *flow, struct toec_ao_info *out);

/* ---- for the functions of struct toec_ao_ops (port.h) ---- */

struct toec_mac;
/* Adds the next n bytes of payload to the MAC. */
void toec_ao_feed(struct toec_mac *mac, const void *data, toec_u32 n);

#ifdef __cplusplus
}
#endif

#endif
