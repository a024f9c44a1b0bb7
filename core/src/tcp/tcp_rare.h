/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rare.h - user timeouts (RFC 9293 3.8.3, RFC 5482) and urgent data (RFC 9293 3.8.5): what few
 * flows have. toec_tcb.rare says which, so that the others touch nothing of it.
 */
#ifndef TOEC_TCP_RARE_H
#define TOEC_TCP_RARE_H

#include "../ip/stack.h"

struct toec_tcb;
struct toec_seg;

/* toec_tcb.rare */
#define TOEC_RARE_URG   1u  /* urgent data is not acknowledged yet */
#define TOEC_RARE_UTO   2u  /* the user timeout is to be told to the peer */
#define TOEC_RARE_UP    4u  /* the peer has sent urgent data: rcv_up is set */
#define TOEC_RARE_HALF  8u  /* in SYN-RECEIVED, and came from LISTEN: in its list */
#define TOEC_RARE_ACKED 16u /* ... and our SYN-ACK has arrived: data is waited for */
#define TOEC_RARE_AO    32u /* TCP-AO: toec_ao_of() */
#define TOEC_RARE_SOFT  64u /* `reason` is of an error since the last progress */

struct toec_urg {
    toec_u32 snd_up; /* SND.UP: behind the last urgent byte (RFC 9293 MUST-62) */
    toec_u32 rcv_up; /* RCV.UP */
};

struct toec_uto {
    toec_u32 adv;     /* ADV_UTO, seconds; 0: the option is not used (ENABLED of RFC 5482) */
    toec_u32 shut_at; /* tick since which the peer's window is closed, when shut */
    toec_u16 remote;  /* REMOTE_UTO as the option has it; 0: none */
    toec_u8 shut;
    toec_u8 owed; /* segments that are still to carry the option */
};

#endif
