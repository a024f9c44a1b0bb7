/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - two engines on a wire in memory and hosts on their queue pairs, in virtual time.
 *
 *     host x -- engine A (10.0.0.1) ==== wire ==== engine B (10.0.0.2) -- host y
 */
#ifndef ENGINE_TESTS_BENCH_H
#define ENGINE_TESTS_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hosts/listen.h"
#include "memwire.h"
#include "round/engine.h"

#define IP_A 0x0a000001u
#define IP_B 0x0a000002u
#define PORT 80

/* The host side of a queue pair, as in libtoe. */
struct host {
    struct qp *qp; /* of the engine, for looking; not after the queue pair is unused */
    uint8_t *area;
    uint64_t size;
    struct toedev_doorbells *doorbells;
    const struct toedev_status *status;
    struct toedev_qp_config cfg;
    struct toedev_layout layout;
    struct toe_ring_tx sw;
    struct toe_ring_rx hw;
    int irq_fd;
};

struct bench {
    uint64_t now;
    struct engine *a, *b;
    struct polling *manager; /* of both engines; NULL: they interrupt themselves */
    struct netio *wire_a, *wire_b;
    struct qp *unused[16]; /* queue pairs that engines have freed */
    uint32_t unused_count;
    uint32_t next_qp;
};

/* Not 0: bench_init() also gives the engines fd00::1/64 and fd00::2/64, of interfaces 41 and 42. */
extern int bench_ip6;
/* Not 0: the engines have as many flows, and small pools; otherwise 256 flows. */
extern unsigned bench_flows;
/* TOE_BENCH_MANAGER=polling in the environment: uses a polling manager with a small ring. */
void bench_init(struct bench *t);
/* Asserts that neither stack holds a flow, then frees. Hosts must have been dropped. */
void bench_free(struct bench *t);
/* Runs one round of engine A and delivers its notifications to the hosts. */
unsigned bench_step_a(struct bench *t);
/* Virtual time passes; both engines work at their deadlines. */
void bench_run(struct bench *t, uint64_t ns);

/* Two hosts with queue pairs of 16 slots. */
struct hosts {
    struct bench t;
    struct host x, y; /* x at A, y at B */
};

void hosts_begin(struct hosts *h);
void hosts_end(struct hosts *h);
/* Of a cmocka test: *state is a struct hosts. */
int hosts_setup(void **state);
int hosts_teardown(void **state);

/* An area as a host makes it: a memfd of `size`, sealed. */
int bench_memfd(uint64_t size, unsigned seals);
struct toedev_qp_config bench_qp_config(uint32_t slots);
void host_attach(struct bench *t, struct engine *e, struct host *h,
                 const struct toedev_qp_config *cfg);
/* Detaches the host and runs until the engine has reset its flows and freed it. */
void host_detach(struct bench *t, struct host *h);
/* Only its own mapping, when the queue pair has been dropped already. */
void host_forget(struct host *h);

/* Writes one command and moves the head. */
void host_put(struct host *h, uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
              uint32_t arg0, uint32_t arg1);
/* Reads the next HW command and moves the tail; returns 0 if there is none. */
int host_get(struct host *h, struct toe_cmd *c);
/* Reads the next HW command, which must be of this type. */
struct toe_cmd host_want(struct host *h, uint8_t type);
void host_want_nothing(struct host *h);
void host_want_error(struct host *h, uint16_t reason, uint32_t flow, uint8_t type);
const struct toedev_flow_record *host_record(const struct host *h, uint32_t slot);
/* Interrupts since the last call. */
uint64_t host_interrupts(struct host *h);

/* A connection from y at B to x at A, established at both ends. Slots in *fx and *fy. */
void bench_connect(struct bench *t, struct host *x, struct host *y, uint32_t *fx, uint32_t *fy);
/* n bytes of a pattern into the slot's send buffer at stream offset, and the SEND. */
void host_send(struct host *h, uint32_t slot, uint32_t offset, uint32_t n);
/* 1 when the receive buffer holds the pattern there. */
int host_holds(const struct host *h, uint32_t slot, uint32_t offset, uint32_t n);

/* Seed of this run: TOEHOLD_SEED, or fixed. Printed. */
unsigned bench_seed(void);

#endif
