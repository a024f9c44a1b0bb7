/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.h - how a host gets a queue pair from a TOE in its own process: a shared object that has
 * one function, toedev_inline(), found by dlsym(). The commands are those of the device contract;
 * what is left out is what two processes need: control socket, rings between them, doorbells.
 *
 *   direct     the TOE has no thread. A command is a call, notifications come within run(), and
 *              whoever would sleep asks first until when, and sleeps on wake_fd too.
 *   threaded   the TOE is a thread of the process: rings, doorbell and interrupt as in attach.h.
 *
 * A direct queue pair and its TOE belong to one thread at a time (libtoe's lock sees to it).
 */
#ifndef TOE_INLINE_H
#define TOE_INLINE_H

#include <stddef.h>

#include <toe/device.h>

#define TOEDEV_INLINE_VERSION 6u
#define TOEDEV_INLINE_LIBRARY "libtoe_inline.so"
#define TOEDEV_INLINE_SYMBOL  "toedev_inline"

#define TOEDEV_ENGINE_ENV         "TOEHOLD_ENGINE"              /* toed (default), inline, thread */
#define TOEDEV_INLINE_OPTIONS_ENV "TOEHOLD_INLINE_OPTIONS"      /* its options, as toed's */
#define TOEDEV_INLINE_LIBRARY_ENV "TOEHOLD_INLINE_LIBRARY"      /* path of the shared object */
#define TOEDEV_INLINE_STATS       "/run/toehold/inline-%d.sock" /* of the process with this pid */

/* What the options say without anything being opened. */
struct toedev_inline_info {
    uint8_t ip[4], prefix_len, gateway[4]; /* prefix_len 0: no IPv4 */
    uint8_t has_ip6, ip6_auto;             /* auto: addresses come from routers */
    uint8_t ip6[16], prefix_len6;          /* prefix_len6 0: none given */
    uint32_t spin_us;                      /* polls this long before it sleeps */
};

#define TOEDEV_EXPECT_MAX 32u

struct toedev_inline; /* the TOE: one interface, one stack, one queue pair */

/* What open() is given, and gives back. */
struct toedev_inline_attach {
    struct toedev_qp_config qp;
    const char *name; /* the program's, for people */
    /* Direct: a notification. It must not call the TOE. NULL: threaded. */
    void (*event)(void *arg, const struct toe_cmd *c);
    /* Direct: notifications for these n slots are likely to come in this very round, with data:
     * DATA_RECEIVED, without: others. So what they will touch may be fetched into the cache. May be
     * NULL; must not call the TOE. */
    void (*expect)(void *arg, const uint32_t *slots, unsigned n, int data);
    void *arg;
    /*
     * Direct: payload of at least hold_min bytes (0: none) may stay in the frame that brought it,
     * and not be copied into the receive buffer, until it has been read. held(arg, slot) says that
     * bytes that are about to be told are the first of the slot that do: from then on, until
     * read_to() returns 0, where() tells where bytes lie. It must not call the TOE.
     */
    uint32_t hold_min;
    void (*held)(void *arg, uint32_t slot);
    /*
     * Direct: not 0: the host asks by tx_room() what part of a slot's send buffer is in use, and
     * puts its bytes at their offset in the stream modulo that. 0: the whole of it always is.
     */
    int tx_shared;
    int irq_fd; /* threaded: an eventfd that does not block; it is duplicated */

    uint8_t *area;   /* out: as toedev_layout_inside() has it; the TOE's, until close() */
    int doorbell_fd; /* out, threaded: the TOE's */
    int wake_fd;     /* out, direct: readable (level) when run() has something to do; the TOE's */
};

struct toedev_inline_ops {
    uint32_t version;
    /* Reads options (toed's, words separated by white space). 0, or the exit code that toed has
     * for what is wrong with them, and a sentence in err. With probe the interface is opened and
     * closed again too. */
    int (*check)(const char *options, int probe, struct toedev_inline_info *out, char *err,
                 size_t err_size);
    /* NULL with a sentence in err. */
    struct toedev_inline *(*open)(const char *options, struct toedev_inline_attach *a, char *err,
                                  size_t err_size);
    /* Lets what was closed finish for the time of --linger-ms, resets the rest, closes the
     * interface. */
    void (*close)(struct toedev_inline *t);
    /* In a fork's child: gives up what is its parent's. t must not be used again. */
    void (*forget)(struct toedev_inline *t);

    /* Direct alone. now: CLOCK_MONOTONIC in nanoseconds. */

    /* Does the command. What it sends may wait for flush() or run(). */
    void (*command)(struct toedev_inline *t, const struct toe_cmd *c, uint64_t now);
    void (*flush)(struct toedev_inline *t, uint64_t now);
    /* One round: packets in, timers, notifications, packets out. Returns what it found to do. */
    unsigned (*run)(struct toedev_inline *t, uint64_t now);
    /* Before sleeping: 1 when there is something to do, 0 when wake_fd will tell. */
    int (*prepare_sleep)(struct toedev_inline *t);
    /* When run() must be called at the latest. UINT64_MAX: no need. */
    uint64_t (*deadline)(struct toedev_inline *t, uint64_t now);
    /* Writes the flow record of a slot. */
    void (*refresh)(struct toedev_inline *t, uint32_t slot);
    /*
     * Of what the next SEND of the slot announces, the n bytes at stream offset `off` lie at data
     * and not in the send buffer. They are read there, and must not change, until SEND_COMPLETE
     * has told them or the final CLOSE_EVENT come. 0, or -1: this cannot be noted, nothing has
     * changed, and the bytes must be put into the buffer.
     */
    int (*refer)(struct toedev_inline *t, uint32_t slot, uint32_t off, const uint8_t *data,
                 uint32_t n);
    /* Commands for these n slots, TOEDEV_EXPECT_MAX at most, will come soon: what they will touch
     * is fetched into the cache. Nothing changes, and any number may stand in slots. */
    void (*expect)(struct toedev_inline *t, const uint32_t *slots, unsigned n);
    /* With tx_shared: bytes of the slot's send buffer that are in use, a power of two. more: there
     * is not room enough, and if more is due it is in use from now on: what was announced has been
     * moved to its new places. Not while bytes stand in the buffer that are not announced. Without
     * `more` it may be called within event(). */
    uint32_t (*tx_room)(struct toedev_inline *t, uint32_t slot, int more);
    /* What is referred to is copied into the send buffer, and its memory not read any more. */
    void (*settle)(struct toedev_inline *t, uint32_t slot);

    /* Received bytes of a slot whose DATA_RECEIVED has been told, by their offsets in the stream,
     * until RELEASE or a CLOSE that says that nobody reads any more. */

    /* Where the byte at off lies: *data; returns how many of n lie there in one piece, in a frame
     * or in the receive buffer. They stay readable until read_to() passes them, also when the
     * connection is gone. */
    uint32_t (*where)(struct toedev_inline *t, uint32_t slot, uint32_t off, uint32_t n,
                      const uint8_t **data);
    /* Bytes before off are not read any more: what they alone hold goes back to the interface. 1:
     * something of the slot is still held. (RECV gives their room to the peer, as ever.) */
    int (*read_to)(struct toedev_inline *t, uint32_t slot, uint32_t off);
    /* Bytes from off on lie in the receive buffer too when this returns, and where() says so. Where
     * they were they stay readable, as above. */
    void (*gather)(struct toedev_inline *t, uint32_t slot, uint32_t off);
};

/* The one function of the shared object, by its name TOEDEV_INLINE_SYMBOL. */
typedef const struct toedev_inline_ops *(*toedev_inline_fn)(void);
const struct toedev_inline_ops *toedev_inline(void);

#endif
