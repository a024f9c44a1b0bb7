/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the one TOE, its wire, its clock and the calls that sleep: what the files of
 * tests/virtual/ share. Everything is guarded by world.lock, which every call from outside holds
 * from its first line to its last, but while it sleeps.
 */
#ifndef VIRTUAL_WORLD_H
#define VIRTUAL_WORLD_H

#include <poll.h>
#include <pthread.h>
#include <stdint.h>

#include <toe/netio.h>
#include <toe/virtual.h>

#include "knobs.h"

#define NS_PER_US    1000ull
#define NS_PER_S     1000000000ull
#define WORLD_ORIGIN (1000 * NS_PER_S)
#define NEVER        UINT64_MAX

/* A thread other than the owner's that sleeps in a call. */
struct sleeper {
    struct sleeper *next;
    int (*ready)(void *arg); /* there is something to wake for */
    void *arg;
    uint64_t deadline;
    int woken, cancelled;
    pthread_cond_t wake;
};

struct world {
    pthread_mutex_t lock;
    pthread_cond_t settled; /* no woken thread runs any more */
    pthread_t owner;        /* the thread that created it and advances time */
    struct sleeper *sleepers;
    int running; /* woken threads that have neither ended their call nor slept again */

    uint64_t now;
    struct knobs knobs;
    int up; /* the stack has been made */
    uint64_t trace;

    struct netio *wire;
};

extern struct world world;

/* Makes the stack and attaches libtoe if that has not been done. 0, or -1 with errno. */
int world_up(void);
/* Frees the stack. Knobs stay. */
void world_down(void);
/* libtoe's end of its connection to the TOE is fd from now on. */
int world_attach(int fd);

/* Does all that is due now, wakes the threads that sleep for it and waits until they sleep again.
 */
void world_settle(void);
/*
 * Time passes until `until`, or until done(arg), looked at whenever something was due. 1: it is
 * done; 0: it is `until`; -1: `until` is NEVER and nothing will ever be due.
 */
int world_run(uint64_t until, int (*done)(void *arg), void *arg);
uint64_t world_next(void);
/*
 * Sleeps until ready(arg) or the deadline: returns 1 or 0, or -1 with EDEADLK if neither can ever
 * happen. The owner advances time while it sleeps; other threads wait for the owner to do so.
 */
int world_sleep(uint64_t deadline, int (*ready)(void *arg), void *arg);
/* Ends a call from outside, in any thread; the thread that woke it continues. */
void world_leave(void);
/* Calls of the table by this thread leave the world to its own world_leave(). */
extern __thread int world_stays;
/* Ends the sleep of every thread with EDEADLK and waits for their calls to return. */
void world_cancel(void);
/* Notes a packet in the trace. */
void world_trace(int direction, const void *packet, size_t n);

/* ---- the TOE: soft.c; the gateware has its own in gateware/sim/toe_virtual.cpp ---- */

/* Creates it, with one end of world.wire. Returns 0, or -1 and a message on standard error. */
int device_up(void);
/* Frees it, and the wire. */
void device_down(void);
/* libtoe sends its hello to this end of a connection; it is the TOE's from now on. */
void device_greet(int fd);
/* libtoe has detached: its flows are reset. */
void device_leave(void);
/* Does all that is due now. */
void device_step(void);
/* When something is due next; NEVER. */
uint64_t device_deadline(void);
/* Updates flow records at once; otherwise a TOE refreshes them at a bounded rate. */
void device_fresh_records(void);
/* The values of toevt_counter() and toevt_usage(). */
int64_t device_counter(const char *name);
void device_usage(uint32_t out[4]);

/* ---- wire.c: netio in memory ---- */

struct netio *wire_new(uint32_t mtu);
/* A frame arrives. */
void wire_inject(struct netio *n, const uint8_t *frame, uint32_t len);
/* The oldest packet sent and not yet taken; 0 when there is none. */
size_t wire_take(struct netio *n, void *packet, size_t room, uint64_t *at);
int wire_holds(const struct netio *n);

/* ---- link.c: the Ethernet between the stack and a world of IP packets ---- */

/* What the stack sends: answers ARP and neighbour solicitations by injecting. The IP packet in the
 * frame and its length, or NULL. */
const uint8_t *link_out(struct netio *n, const uint8_t *frame, uint32_t len, uint32_t *ip_len);
/* The router solicits the stack's address, as if it had a packet for it: the stack knows its
 * neighbour from the beginning and drops no reply for lack of it. */
void link_greet(struct netio *n);
/* An IP packet arrives. -1: it is none. */
int link_in(struct netio *n, const uint8_t *packet, size_t len);
extern const uint8_t link_own_mac[6];

#endif
