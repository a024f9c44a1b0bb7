/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.h - how a host gets a queue pair from a TOE in its own process: a shared object with one
 * function, toedev_inline(), found by dlsym(). The commands are those of the device contract. It
 * omits what only two processes need: control socket, rings between them, doorbells.
 *
 *   direct     the TOE has no thread. A command is a call, notifications come within run(). A
 *              caller that wants to sleep asks for the deadline first, and also sleeps on wake_fd.
 *   threaded   the TOE is a thread of the process: rings, doorbell and interrupt as in attach.h.
 *
 * A direct queue pair and its TOE belong to one thread at a time (libtoe's lock ensures it).
 */
#ifndef TOE_INLINE_H
#define TOE_INLINE_H

#include <stddef.h>

#include <toe/device.h>

#define TOEDEV_INLINE_VERSION 8u
#define TOEDEV_INLINE_LIBRARY "libtoe_inline.so"
#define TOEDEV_INLINE_SYMBOL  "toedev_inline"

#define TOEDEV_ENGINE_ENV         "TOEHOLD_ENGINE"              /* toed (default), inline, thread */
#define TOEDEV_INLINE_OPTIONS_ENV "TOEHOLD_INLINE_OPTIONS"      /* its options, as toed's */
#define TOEDEV_INLINE_LIBRARY_ENV "TOEHOLD_INLINE_LIBRARY"      /* path of the shared object */
#define TOEDEV_INLINE_STATS       "/run/toehold/inline-%d.sock" /* of the process with this pid */

/* What the options contain, without opening anything. */
struct toedev_inline_info {
    uint8_t ip[4], prefix_len, gateway[4]; /* prefix_len 0: no IPv4 */
    uint8_t has_ip6, ip6_auto;             /* ip6_auto: addresses come from routers */
    uint8_t ip6[16], prefix_len6;          /* prefix_len6 0: none given */
    uint32_t spin_us;                      /* polls this long before it sleeps */
};

#define TOEDEV_EXPECT_MAX 32u

struct toedev_inline; /* the TOE: one interface, one stack, one queue pair */

/* Arguments and results of open(). */
struct toedev_inline_attach {
    struct toedev_qp_config qp;
    const char *name; /* the program's name, for messages */
    /* Direct: called with a notification. It must not call the TOE. NULL: threaded. */
    void (*event)(void *arg, const struct toe_cmd *c);
    /* Direct: called when notifications for these n slots are likely in this round: DATA_RECEIVED
     * if data is set, others if not. The host may prefetch what they will touch. May be NULL; must
     * not call the TOE. */
    void (*expect)(void *arg, const uint32_t *slots, unsigned n, int data);
    void *arg;
    /*
     * Direct: payload of at least hold_min bytes (0: none) may stay in the frame it arrived in
     * until it has been read, instead of being copied into the receive buffer. held(arg, slot) is
     * called before the notification of the first such bytes of the slot. From then on, until
     * read_to() returns 0, where() returns the place of bytes. It must not call the TOE.
     */
    uint32_t hold_min;
    void (*held)(void *arg, uint32_t slot);
    /*
     * Direct: not 0: the host queries with tx_room() how much of a slot's send buffer is in use,
     * and puts its bytes at their offset in the stream modulo that size. 0: the whole buffer is
     * always in use.
     */
    int tx_shared;
    int irq_fd; /* threaded: an eventfd that does not block; it is duplicated */

    uint8_t *area;   /* out: laid out by toedev_layout_inside(); the TOE's, until close() */
    int doorbell_fd; /* out, threaded: the TOE's */
    char note[400];  /* out: a sentence for the program's log, or "" */
    int wake_fd;     /* out, direct: readable (level) when run() has something to do; the TOE's */
};

struct toedev_inline_ops {
    uint32_t version;
    /* Reads options (toed's, words separated by white space). Returns 0, or toed's exit code for
     * the error, and a sentence in err. With probe it also opens the interface and closes it again.
     */
    int (*check)(const char *options, int probe, struct toedev_inline_info *out, char *err,
                 size_t err_size);
    /* Returns NULL with a sentence in err on failure. */
    struct toedev_inline *(*open)(const char *options, struct toedev_inline_attach *a, char *err,
                                  size_t err_size);
    /* Lets closed connections finish for the time of --linger-ms, resets the rest, closes the
     * interface. */
    void (*close)(struct toedev_inline *t);
    /* In a fork's child: releases what belongs to the parent. t must not be used again. */
    void (*forget)(struct toedev_inline *t);

    /* The following are for direct mode only. now: CLOCK_MONOTONIC in nanoseconds. */

    /* Executes the command. Segments that it sends may wait for flush() or run(). */
    void (*command)(struct toedev_inline *t, const struct toe_cmd *c, uint64_t now);
    void (*flush)(struct toedev_inline *t, uint64_t now);
    /* Runs one round: packets in, timers, notifications, packets out. others: other threads sleep
     * on wake_fd, so an arrival must keep waking them; without it, an arrival may wake no thread
     * until the next prepare_sleep(). Returns the amount of work done, 0: none. */
    unsigned (*run)(struct toedev_inline *t, uint64_t now, int others);
    /* Returns how long to pause between two run() of a loop that finds nothing, in nanoseconds; 0:
     * as short as possible. */
    uint32_t (*rest)(const struct toedev_inline *t);
    /* Before sleeping: returns 1 when there is something to do, 0 when wake_fd will signal it. */
    int (*prepare_sleep)(struct toedev_inline *t);
    /* Returns the time by which run() must be called. UINT64_MAX: none. */
    uint64_t (*deadline)(struct toedev_inline *t, uint64_t now);
    /* Writes the flow record of a slot. */
    void (*refresh)(struct toedev_inline *t, uint32_t slot);
    /*
     * Declares that n of the bytes that the slot's next SEND announces, from stream offset `off`,
     * are at data and not in the send buffer. They are read there, and must not change, until
     * SEND_COMPLETE has reported them or the final CLOSE_EVENT has come. Returns 0, or -1: the TOE
     * cannot record it, nothing has changed, and the bytes must be put into the buffer.
     */
    int (*refer)(struct toedev_inline *t, uint32_t slot, uint32_t off, const uint8_t *data,
                 uint32_t n);
    /* Prefetches what commands for these n slots, at most TOEDEV_EXPECT_MAX, will touch. The state
     * does not change; slots may contain any number. */
    void (*expect)(struct toedev_inline *t, const uint32_t *slots, unsigned n);
    /* With tx_shared: returns how many bytes of the slot's send buffer are in use, a power of two.
     * more: the caller needs more room. The TOE then enlarges the part in use if it may, and moves
     * the announced bytes to their new places. Do not set `more` while the buffer contains bytes
     * that are not announced. Without `more` it may be called within event(). */
    uint32_t (*tx_room)(struct toedev_inline *t, uint32_t slot, int more);
    /* Copies all referred bytes into the send buffer. Their memory is not read any more. */
    void (*settle)(struct toedev_inline *t, uint32_t slot);

    /* The following are for received bytes of a slot that DATA_RECEIVED has reported, by their
     * offsets in the stream, until RELEASE or a full CLOSE. */

    /* Sets *data to the byte at off. Returns how many of n bytes are contiguous there, in a frame
     * or in the receive buffer. They stay readable until read_to() passes them, also after the
     * connection has ended. */
    uint32_t (*where)(struct toedev_inline *t, uint32_t slot, uint32_t off, uint32_t n,
                      const uint8_t **data);
    /* Declares that bytes before off are not read any more: frames that hold only such bytes return
     * to the interface. Returns 1 if something of the slot is still held. (RECV advertises their
     * room to the peer, as without held frames.) */
    int (*read_to)(struct toedev_inline *t, uint32_t slot, uint32_t off);
    /* Copies the bytes from off on into the receive buffer; where() returns that place afterwards.
     * They stay readable at their previous place, as above. */
    void (*gather)(struct toedev_inline *t, uint32_t slot, uint32_t off);
};

/* The only function of the shared object, named TOEDEV_INLINE_SYMBOL. */
typedef const struct toedev_inline_ops *(*toedev_inline_fn)(void);
const struct toedev_inline_ops *toedev_inline(void);

#endif
