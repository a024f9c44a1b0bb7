/* SPDX-License-Identifier: Apache-2.0 */
/*
 * easy.h - core/ for those who want streams: every function of port.h supplied, with a ring buffer
 * each way for each connection. The integrator supplies a function that sends a frame and one that
 * receives events. Freestanding as core/ is. It costs one copy of each byte each way; an integrator
 * who cannot afford that writes the functions of port.h (docs/EMBEDDING.md).
 *
 * One thread at a time uses a struct toec_easy. Only toec_easy_poll() reports events, so that event
 * functions may call everything here except toec_easy_input() and toec_easy_poll().
 */
#ifndef TOE_EASY_H
#define TOE_EASY_H

#include <toe/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toec_easy;
struct toec_conn;

/* Events, bits. */
#define TOEC_EASY_OPEN  1u  /* connected: the first event of a connection */
#define TOEC_EASY_READ  2u  /* more bytes have arrived (reported once for each arrival) */
#define TOEC_EASY_WRITE 4u  /* there is room again, after toec_easy_write() had too little */
#define TOEC_EASY_END   8u  /* the peer has closed; what arrived before may still be unread */
#define TOEC_EASY_GONE  16u /* the last event: c is no more when this returns */

struct toec_easy_config {
    struct toec_config core; /* as toec_init() takes it; max_flows is the number of connections,
                              * user goes to the functions below, max_gso and max_udp must be 0;
                              * ao is set here: max_ao_keys is all that TCP-AO needs */
    toec_u32 tx_size;        /* bytes to send kept per connection, until acknowledged: 16384; */
    toec_u32 rx_size;        /* ... and received: 16384. Powers of two, 4 KiB..16 MiB */
    /* Sends one whole Ethernet frame with its checksums. 0; -1: no room now, to be called again. */
    int (*send)(void *user, const toec_u8 *frame, toec_u32 len);
    /* Something has happened to a connection. */
    void (*event)(void *user, struct toec_conn *c, unsigned what);
};

/* Bytes of memory needed; 0: the configuration is invalid, or too large for 32 bits. */
unsigned long toec_easy_size(const struct toec_easy_config *cfg);
/* mem: aligned to 64 bytes. 0 when it is 0, size too small or the configuration invalid. */
struct toec_easy *toec_easy_init(void *mem, unsigned long size, const struct toec_easy_config *cfg,
                                 toec_time now);

/* A whole Ethernet frame has arrived. flags: TOEC_RX_*. */
void toec_easy_input(struct toec_easy *e, const void *frame, toec_u32 len, toec_u32 flags,
                     toec_time now);
/*
 * Sends pending segments, runs timers, reports events. To be called after frames have arrived,
 * after the calls below (unless from an event) and at the returned time; TOEC_NEVER: none.
 */
toec_time toec_easy_poll(struct toec_easy *e, toec_time now);

/* Accepts connections to port of addr (as toec_listen(); 0: any address). arg: of each of them
 * (toec_easy_arg()). id: as toec_listen(); may be 0. Returns 0 or TOEC_E_*. */
int toec_easy_listen(struct toec_easy *e, const struct toec_addr *addr, toec_u16 port, void *arg,
                     toec_u32 *id);
/* Connects. 0 and *c, TOEC_EASY_OPEN or _GONE follow; or TOEC_E_*. */
int toec_easy_connect(struct toec_easy *e, const struct toec_addr *remote, toec_u16 port, void *arg,
                      toec_time now, struct toec_conn **c);

/* Takes up to n bytes that have arrived; returns how many. */
toec_u32 toec_easy_read(struct toec_conn *c, void *buf, toec_u32 n);
/* The same without a copy: peek returns how many are at *p in one piece (0: none), skip frees n
 * (at most as many as have arrived). */
toec_u32 toec_easy_peek(const struct toec_conn *c, const toec_u8 **p);
void toec_easy_skip(struct toec_conn *c, toec_u32 n);
/* Sends up to n bytes; returns how many there was room for. 0 too when it cannot send any more. */
toec_u32 toec_easy_write(struct toec_conn *c, const void *buf, toec_u32 n);
/* Not 0: the peer has closed, and all it sent is read. */
int toec_easy_ended(const struct toec_conn *c);

/* Sends FIN after what has been written; reading is still possible. */
void toec_easy_shutdown(struct toec_conn *c);
/* Closes: what has been written still arrives. c is no longer the caller's: no event follows. Bytes
 * unread make it a reset, as with sockets. */
void toec_easy_close(struct toec_conn *c);
/* Resets. c is no longer the caller's: no event follows. */
void toec_easy_abort(struct toec_conn *c);

void *toec_easy_arg(const struct toec_conn *c);
void toec_easy_set_arg(struct toec_conn *c, void *arg);
/* enum toec_reason: why the connection is gone; before that, the last soft error, or 0. */
toec_u32 toec_easy_reason(const struct toec_conn *c);
/* What is beneath, for options, counters, information. flow is 0 once it is gone. */
struct toec_stack *toec_easy_stack(const struct toec_easy *e);
struct toec_tcb *toec_easy_flow(const struct toec_conn *c);
struct toec_easy *toec_easy_of(const struct toec_conn *c);

#ifdef __cplusplus
}
#endif

#endif
