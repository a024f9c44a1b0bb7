/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users.h - what each user but root may have of a toed (--user-limits), so that one of them cannot
 * take it from the others. Queue pairs, slots and memory are counted over all engines and given
 * back with the queue pair, not with its program: flows that outlive that still take room.
 */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 0: no limit. */
struct user_limits {
    uint32_t qps;
    uint32_t slots;
    uint32_t memory_mib;
    uint32_t listeners; /* on each engine; one for each program that serves a port */
    uint32_t commands;  /* a second, of each queue pair: what is more waits */
};

/* What a user has. */
struct user {
    struct user *next;
    uid_t uid;
    uint32_t qps;
    uint64_t slots, bytes;
};

/* "qps=4,slots=1000": 0, or -1 and a sentence. */
int limits_parse(struct user_limits *l, const char *text, char *err, size_t err_size);

/* The user's account, made when there is none; NULL: no memory. Thread: control's alone. */
struct user *user_get(struct user **users, uid_t uid);
/* Lets it go when nothing is left in it. */
void user_put(struct user **users, struct user *u);
/* Whether so much more is within the limits: 0, or -1 and a sentence. */
int user_may(const struct user *u, const struct user_limits *l, uint32_t slots, uint64_t bytes,
             char *err, size_t err_size);

#endif
