/* SPDX-License-Identifier: Apache-2.0 */
/* loopwire.h - shared by the two halves of the TOE for tests: attach, and its commands. */
#ifndef TOE_LOOPWIRE_H
#define TOE_LOOPWIRE_H

#include <stdbool.h>

#include <toe/attach.h>
#include <toe/ring.h>

#define QPS       16
#define LISTENERS 64

struct flow {
    bool ready; /* CONNECT_READY sent: opens with its first SEND */
    uint16_t port;
    uint32_t cookie;
    bool used, fin_wanted, fin_sent, detached, gone;
    bool v6;
    bool orphan_peer;  /* its peer's process closed it in order, then ended */
    struct flow *peer; /* NULL: none, or ended */
    struct qp *qp;
    uint32_t slot, listener; /* listener: its id, until accepted */
    uint32_t tx_at, tx_queued, rx_at, rx_free;
};

struct listener {
    uint32_t id;
    uint16_t port;
    bool weak, v6, v6only;
};

struct qp {
    int ctl, irq, bell;
    uint8_t *area;
    struct toedev_qp_config cfg;
    struct toedev_layout l;
    struct toe_ring_tx hw;
    struct toe_ring_rx sw;
    struct toedev_doorbells *db;
    struct toedev_status *st;
    struct flow *flows;
    struct listener listeners[LISTENERS];
    unsigned listeners_n;
    uint32_t irq_seen, engine;
    bool dirty;
};

extern struct qp *loop_qps[QPS];
extern unsigned loop_engines;
extern unsigned loop_options, loop_ports_left; /* of struct looptoe_usage */
extern const uint8_t loop_own6[2][16];

/* One command of this queue pair. */
void loop_handle(struct qp *q, const struct toe_cmd *c);
/* The queue pair is removed: its pending requests are dropped, its peers are reset. */
void loop_forget(struct qp *q);

#endif
