/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe.h - the TOE Manager and its agents, one for each connection (S2.5). The manager attaches
 * queue pairs, distributes new connections over listeners, and passes each command to the agent
 * that it names. An agent executes its commands by core/ and reports the events of core/.
 *
 * Everything here is in the processor's memory, which no host reaches. A host's values have been
 * checked by toe_cmd where the command alone decides (host.h), and are checked here where the
 * connection's state does.
 */
#ifndef TOE_H
#define TOE_H

#include "host.h"
#include "toe_core.h"
#include "tx_header.h"

#ifndef FLOWS
#define FLOWS 64u /* slots of all queue pairs, hyb_box.sv: FlowBits */
#endif
#define AGENTS   (2u * FLOWS) /* beside those of slots: half-open ones whose queue pair has gone */
#define MEMBERS  32u          /* listeners of all queue pairs */
#define GROUPS   16u          /* ports that are listened on */
#define HASHES   256u
#define NO_SLOT  0xffffu
#define NO_GROUP 0xffu

enum agent_state {
    AGENT_FREE = 0,
    AGENT_OPENING, /* CONNECT without an answer; half-open and not announced */
    AGENT_OPEN,
    AGENT_CLOSING, /* the host has closed: only the end is still reported */
    AGENT_GONE     /* the connection has ended; the slot is the host's until RELEASE */
};

/* Pending notifications, written in the order of these bits. */
#define PEND_ESTABLISHED 1u
#define PEND_URGENT      2u
#define PEND_DATA        4u
#define PEND_ACKED       8u
#define PEND_HALF        16u
#define PEND_FINAL       32u
#define PEND_FAILED      64u

struct member; /* a listener of a queue pair */

struct agent {
    struct toec_tcb *flow; /* 0: not known yet, or gone */
    struct member *member; /* of a passive connection until it is accepted */
    struct agent *next;    /* in the list of agents with something to report */
    struct host_flow at;   /* its queue pair and slot; slot NO_SLOT: the queue pair has gone */
    uint16_t reason, soft_error;
    uint8_t state, pending;
    unsigned queued : 1, active : 1, announced : 1, accepted : 1, counted : 1, half_closed : 1;
    unsigned doomed : 1; /* to be reset as soon as its handle is known */
    unsigned current : 1, dirty : 1;
    struct host_peer peer;
    struct tx_header header; /* transmit_complete.c */
    uint32_t cookie;         /* of CONNECT; id of the listener */
    uint32_t tx_used;        /* announced by SEND and not acknowledged */
    uint32_t rx_reported;    /* reported by DATA_RECEIVED and not given back by RECV */
    uint32_t pend_data, pend_acked, urgent_at;
    uint32_t record_seq, generation;
};

struct member {
    uint8_t in_use, qp, group, weak;
    uint32_t id, backlog, waiting; /* waiting: established and not accepted */
};

struct group {
    struct toec_addr addr;
    toec_u32 core_id;
    uint16_t port;
    uint8_t v6only, count; /* count 0: unused */
};

struct qp {
    uint8_t attached, listeners;
    uint16_t first, slots, used;
    uint32_t tx_size, rx_size;
};

struct toe {
    struct toec_stack *stack;
    uint64_t now;
    struct qp qps[HOST_QPS];
    struct agent agents[AGENTS];
    struct agent *of_slot[FLOWS];
    uint32_t generation[FLOWS], record_seq[FLOWS];
    struct member members[MEMBERS];
    struct group groups[GROUPS];
    struct agent *pend_first, *pend_last;
    uint64_t refresh_at;  /* when records are to be written */
    uint32_t dooms;       /* agents to be reset */
    struct agent *active; /* of the latest event of core/; 0: none since this was cleared */
    struct agent *expected[HASHES]; /* receive_look.c: by hash, of the last segment */
};
extern struct toe toe;

/* ---- receive_plain.c, receive_look.c: how core/ gets a frame; an image links one ---- */

#define RECEIVE_MOST (HOST_RX_BYTES / HOST_FRAME) /* frames: all that RX buffers hold */
/* Gives core/ the frame at the tail, and those behind it that continue its segment. Returns how
 * many it has taken; they stay until host_frame_end(). */
unsigned receive_frames(const uint8_t *data, uint32_t length);
/* Places payload of what core/ was given into a receive buffer, as toec_port_place() does. */
void receive_place(struct host_flow at, const struct toec_packet *p, uint32_t p_off, uint32_t len,
                   uint32_t to);

/* ---- agent.c ---- */

/* Takes an agent and a free slot of the queue pair; 0: there is none. */
struct agent *agent_take(uint8_t qp);
/* Frees the agent, and its slot if it has one. */
void agent_free(struct agent *a);
/* Returns the agent of the slot that the command names, if the host may name it; else 0. */
struct agent *agent_named(const struct host_command *c);
/* Returns the agent of the CONNECT with this cookie that has no answer yet; else 0. */
struct agent *agent_opening(uint8_t qp, uint32_t cookie);
/* Execute a command of a connection. They return 0, CROSSED or a TOE_R_*. */
int agent_command(struct agent *a, const struct host_command *c);
int agent_option(struct agent *a, const struct host_command *c);
int agent_cancel(struct agent *a);
/* Handles an event of core/. */
void agent_event(struct agent *a, struct toec_tcb *flow, enum toec_event ev, uint32_t arg);
/* Reports nothing more of it, and resets its connection. Its slot is free at once. */
void agent_orphan(struct agent *a);
/* Resets the agents that were orphaned or whose listener went before their handle was known. */
void agents_reset(void);

/* The command crossed the end of its connection: ignored. */
#define CROSSED (-1)

/* ---- report.c ---- */

void report_pend(struct agent *a, unsigned what);
/* Takes the agent out of the list of those with something to report. */
void report_drop(struct agent *a);
/* Writes pending events while the HW rings have room. Returns 1 when some are left. */
int report_flush(void);
/* Writes the flow record now, or within 20 ms. */
void report_record(struct agent *a);
void report_touch(struct agent *a);
/* Writes records that are due. */
void report_refresh(void);

/* ---- listen.c ---- */

int listen_add(const struct host_command *c, const struct toec_addr *addr);
int listen_remove(uint8_t qp, uint32_t id);
void listen_remove_all(uint8_t qp);
int listen_option(const struct host_command *c);
/* Returns an agent of a member of the group for a new connection; 0: backlog or slots are full. */
struct agent *listen_pick(const struct group *g, uint32_t hash);
/* Count an established connection into its listener's backlog, and out of it. */
void listen_enter(struct agent *a);
void listen_leave(struct agent *a);

/* ---- manager.c ---- */

/* Executes the command that waits. */
void manager_command(void);
/* Attaches queue pairs that were enabled, resets those that leave. */
void manager_queue_pairs(void);
/* Reports slots and listeners of the queue pair to the driver. */
void manager_usage(uint8_t qp);
/* Reads an address of a command: IPv4 from arg0, or the table entry. */
void manager_address(const struct host_command *c, int v6, struct toec_addr *out);

/* ---- transmit_software.c, _prototype.c, _complete.c: with toec_port_transmit(), how frames leave
 * ---- */

/* Ends the firmware with a message when the design has another configuration than the image. */
void transmit_check(void);
/* Sends what a command has given the agent's flow to send, or leaves it to the round's end. The
 * flow may be gone afterwards. */
void transmit_now(struct agent *a);
/* Of segments whose headers hardware builds; 0: of none. */
extern const struct toec_tx_segment_ops *const transmit_segments;
/* The most bytes of a burst, which is cut into segments here; 0: core/ gives single segments. */
extern const uint32_t transmit_burst;

#endif
