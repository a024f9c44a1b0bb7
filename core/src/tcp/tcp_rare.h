/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rare.h - state that few flows use: user timeouts (RFC 9293 3.8.3, RFC 5482) and urgent data
 * (RFC 9293 3.8.5). toec_tcb.rare shows which is in use, so that other flows do not touch it.
 */
#ifndef TOEC_TCP_RARE_H
#define TOEC_TCP_RARE_H

#include "../ip/stack.h"

struct toec_tcb;
struct toec_seg;

/* toec_tcb.rare */
#define TOEC_RARE_URG   1u   /* urgent data is not acknowledged yet */
#define TOEC_RARE_UTO   2u   /* the user timeout must be advertised to the peer */
#define TOEC_RARE_UP    4u   /* the peer has sent urgent data: rcv_up is set */
#define TOEC_RARE_HALF  8u   /* in SYN-RECEIVED from LISTEN: in the listener's list */
#define TOEC_RARE_ACKED 16u  /* ... and our SYN-ACK was acknowledged: waits for data */
#define TOEC_RARE_AO    32u  /* TCP-AO: toec_ao_of() */
#define TOEC_RARE_SOFT  64u  /* `reason` holds a soft error since the last progress */
#define TOEC_RARE_EOR   128u /* a record boundary is not acknowledged yet (tcp_eor.h) */

struct toec_urg {
    toec_u32 snd_up; /* SND.UP: after the last urgent byte (RFC 9293 MUST-62) */
    toec_u32 rcv_up; /* RCV.UP */
};

struct toec_uto {
    toec_u32 adv;     /* ADV_UTO, seconds; 0: the option is not used (ENABLED of RFC 5482) */
    toec_u32 shut_at; /* with `shut`: tick at which the peer's window closed */
    toec_u16 remote;  /* REMOTE_UTO in the option's format; 0: none */
    toec_u8 shut;
    toec_u8 owed; /* number of segments that must still carry the option */
};

#endif
