/* SPDX-License-Identifier: Apache-2.0 */
/*
 * several.h - several workers of one address in one process, for tests of workers(N):SPEC. Their
 * interface is side a of a wire, and the peer has side b.
 */
#ifndef TOE_NETIO_TEST_SEVERAL_H
#define TOE_NETIO_TEST_SEVERAL_H

#include "../src/workers.h"
#include "../src/workers_look.h"
#include "testing.h"

#define SPEC "workers(4):wire:@/w,side=a"
#define PORT 80u

/* A frame. */
struct segment {
    uint8_t bytes[80];
    uint32_t len;
};

extern const uint8_t our_ip[4], peer_ip[4];
extern char group_path[128], claim_name[64];
extern struct netio *peer;
extern uint64_t now;

void put16(uint8_t *p, unsigned value);
/* A TCP segment; to_us: from the peer's port to ours, else the other way. */
struct segment tcp4(int to_us, unsigned our_port, unsigned peer_port, unsigned flags);
struct segment tcp6(int to_us, unsigned our_port, unsigned peer_port, unsigned flags);
/* An ICMP error from the peer about our segment. */
struct segment unreachable(unsigned our_port, unsigned peer_port);
struct segment arp(unsigned op, const uint8_t sender[4], const uint8_t target[4]);

/* A worker that must open, and one that must not: the sentence contains part. */
struct netio *worker(void);
void refused(const char *spec, const char *part);
struct workers *inside(struct netio *n);
/* A time at which the group is checked again. */
uint64_t later(void);
/* Lets a worker see who is there. */
void settle(struct netio *n);
void send_frame(struct netio *n, const struct segment *s);
/* Receives all frames that wait; returns how many. last: a copy of the last one, or NULL. */
unsigned receive(struct netio *n, struct segment *last);
/* Has the peer send a segment. Returns which of the workers gets it: exactly one must. The first of
 * them steers. */
unsigned arrives_at(const struct segment *s, struct netio *const *w, unsigned count);
/* Opens a connection from the peer. Returns which worker has it. */
unsigned open_flow(unsigned peer_port, struct netio *const *w, unsigned count);
/* Opens workers that all serve the port; the first one steers. */
void open_workers(struct netio **w, unsigned count);
void close_workers(struct netio **w, unsigned count);

/* A test with a folder, a group and a peer. */
#define WITH_GROUP(f) cmocka_unit_test_setup_teardown(f, group_setup, group_teardown)
int group_setup(void **state);
int group_teardown(void **state);

#endif
