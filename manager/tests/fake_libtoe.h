/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_libtoe.h - replaces the rest of libtoe under the files that are tested alone (poll.c,
 * select.c, sockopt.c, fcntl.c): a clock, sleep and readiness that the test sets.
 */
#ifndef FAKE_LIBTOE_H
#define FAKE_LIBTOE_H

#include "tsock.h"

struct fake {
    uint64_t now;            /* of tclock_ns() */
    int locks;               /* 1 while held */
    unsigned adds;           /* waiters registered now */
    unsigned most_adds;      /* announced to twait_begin() */
    unsigned uses;           /* calls of tsock_use() */
    unsigned sleeps;         /* calls of twait_sleep() */
    unsigned last_look_adds; /* waiters registered at the last readiness check */
    /* Called for a sleep; its result is that of twait_sleep(). NULL: a sleep fails the test. */
    int (*sleep)(struct pollfd *kfds, nfds_t n, uint64_t deadline);
    /* OPTION commands, in order */
    struct {
        uint16_t option;
        uint32_t value;
    } options[32];
    unsigned options_n;
    uint32_t notified;        /* events of tobj_notify() */
    uint16_t listener_option; /* the last command about a listener */
    uint32_t listener_value;
    bool has_record;
    struct toedev_flow_record record;
};
extern struct fake fake;

/* Resets: an empty table, a clock at 1 s. */
void fake_reset(void);
/* Puts a socket in the table at `fd`, with nothing ready. */
struct tsock *fake_socket(int fd, enum tsock_state state);
/* Sets the result of tobj_events(). */
void fake_events(struct tsock *s, uint32_t events);

#endif
