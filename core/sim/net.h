/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - the simulated network: pairs of stacks whose frames share one bottleneck each way.
 *
 *   sender i --access--> [loss] [queue: rate, limit, AQM] --delay, jitter, ...--> receiver i
 *            <----------- the same in reverse, with its own settings -------
 *
 * All time is virtual, in nanoseconds; all randomness comes from one seed. Payload is not carried:
 * its bytes are given by the stream offset (core/tests check bytes).
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stddef.h>
#include <stdint.h>

#include <toe/core.h>
#include <toe/counters.h>

#define SEC  1000000000ull
#define MSEC 1000000ull
#define USEC 1000ull

#define START       (1000 * SEC) /* second 0 of a scenario */
#define MAX_FLOWS   64
#define MAX_DROPS   64
#define MAX_CHANGES 32

struct flow;
struct host;
struct net;

/* ---- events ---- */

enum event_kind {
    EV_POLL,
    EV_ENTER,
    EV_LEAVE,
    EV_ARRIVE,
    EV_APP,
    EV_READ,
    EV_CROSS,
    EV_CHANGE,
    EV_SAMPLE
};

struct event {
    toec_time at;
    uint64_t order;
    enum event_kind kind;
    void *what;
};

/* ---- packets and links ---- */

struct packet {
    struct packet *next;
    struct host *from; /* 0: cross traffic */
    toec_time queued_at;
    uint32_t len;       /* of the frame, without preamble and FCS */
    uint32_t off, data; /* stream offset and length of the payload */
    uint32_t hdr_len;
    uint8_t hdr[160];
};

enum qdisc { Q_DROPTAIL, Q_RED, Q_CODEL, Q_STEP };

/* Chances are 0..1. A model is off when its chances are 0. */
struct loss {
    double p;               /* Bernoulli */
    double to_bad, to_good; /* Gilbert-Elliott: chances of a change at each packet ... */
    double in_bad, in_good; /* ... and of loss in each state */
    int bad;
};

struct link {
    struct net *net;
    double rate;    /* bits/s, 0: no limit */
    uint32_t limit; /* queue size in bytes */
    enum qdisc qdisc;
    int ecn; /* RED and CoDel mark ECN-capable packets instead of dropping them */
    double red_min, red_max, red_p, red_weight, red_avg;
    int red_count;
    toec_time codel_target, codel_interval, codel_above, codel_next;
    int codel_dropping;
    uint32_t codel_count, codel_last;
    uint32_t step; /* bytes above which ECN-capable packets are marked */
    struct loss loss;
    toec_time delay, jitter, reorder_by;
    double reorder, duplicate;
    toec_time blocked_until; /* a spike: nothing arrives before */
    struct packet *head, **tail;
    uint32_t bytes, max_bytes;
    double byte_ns; /* queued bytes, integrated over time */
    toec_time counted_at;
    int busy;
    uint64_t in, out, out_bytes, lost, dropped, aqm_dropped, marked, duplicated, reordered;
};

/* ---- hosts and flows ---- */

struct host {
    struct net *net;
    struct flow *flow;
    struct toec_stack *stack;
    void *mem;
    struct toec_config cfg;
    struct toec_tcb *tcb;
    int sender;
    int settling;        /* duplicate address detection: packets are not sent */
    toec_time scheduled; /* time of the valid EV_POLL; others are stale */
    toec_time access_free;
};

/* Segment `seg` of a flow's stream (counted in full segments from 0) is lost `times` times. */
struct drop {
    uint32_t seg, times;
};

struct series {
    double *t, *cwnd, *ssthresh, *srtt, *in_flight, *acked, *retransmits;
    size_t n, room;
};

struct flow {
    struct net *net;
    unsigned index;
    struct host a, b; /* sender, receiver */
    struct link *fwd, *rev;
    /* from the scenario */
    char cc[16];
    unsigned cc_index;
    toec_time start, stop, rtt;    /* rtt 0: that of the bottleneck */
    uint64_t bytes;                /* to send, 0: no end */
    double app_rate;               /* bits/s offered, 0: as much as the buffer takes */
    uint64_t burst;                /* bytes written at once ... */
    toec_time every;               /* ... at this interval */
    double read_rate;              /* bits/s the receiver reads, 0: at once */
    toec_time stall_at, stall_for; /* the receiver does not read */
    double access;                 /* bits/s of the sender's own link, 0: no limit */
    uint32_t tx_buf, rx_buf, mtu, gso;
    struct drop drop[MAX_DROPS];
    unsigned drops;
    int ecn, ip6;
    /* results */
    toec_time extra; /* one-way delay beyond the bottleneck's */
    uint64_t written, acked, received, unread, acked_at_warmup;
    double credit, read_credit; /* bytes of app_rate, read_rate not yet used */
    toec_time established, finished, last_data, gap, gap_at, last_read;
    int open, gone, shut, to_read, to_write;
    uint32_t gone_reason;
    uint32_t seg; /* payload of a full segment */
    struct toec_info last;
    struct series series;
};

struct change {
    toec_time at;
    struct link *link;
    double rate;     /* below 0: no change */
    toec_time delay; /* TOEC_NEVER: no change */
    toec_time spike; /* duration without arrivals */
};

/* Constant or on-off traffic without congestion control. */
struct cross {
    double rate; /* bits/s while on */
    uint32_t size;
    toec_time start, stop, on, off; /* on 0: always */
    int poisson;
};

struct net {
    toec_time now, duration, warmup, sample;
    uint64_t seed, random, order, events;
    struct event *heap;
    size_t heap_n, heap_room;
    struct link fwd, rev;
    struct flow *flow[MAX_FLOWS];
    unsigned flows;
    struct change change[MAX_CHANGES];
    unsigned changes;
    struct cross cross;
    struct packet *free;
    double *queue_t, *queue_bytes, *queue_drops, *queue_marks;
    size_t queue_n, queue_room;
};

/* Returns p; aborts after a message when it is NULL. */
void *must(void *p);
/* Returns the next random number of the seed, in [0, 1). */
double net_chance(struct net *n);
#endif
