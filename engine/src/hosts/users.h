/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users.h - resource limits for each user except root (--user-limits), so that one user cannot
 * exhaust a toed. Queue pairs, slots and memory are counted over all engines. They are released
 * with the queue pair, not with its program, since flows that outlive the program still use them.
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
    uint32_t listeners; /* on each engine; one for each program and port */
    uint32_t commands;  /* per second, for each queue pair; excess commands wait */
};

/* What a user has in use. */
struct user {
    struct user *next;
    uid_t uid;
    uint32_t qps;
    uint64_t slots, bytes;
};

/* Parses text such as "qps=4,slots=1000". Returns 0, or -1 with a message in err. */
int limits_parse(struct user_limits *l, const char *text, char *err, size_t err_size);

/* Returns the user's account, allocated if there is none; NULL: no memory. Control thread only. */
struct user *user_get(struct user **users, uid_t uid);
/* Frees the account when nothing in it is in use. */
void user_put(struct user **users, struct user *u);
/* Checks whether one more queue pair of this size is within the limits. Returns 0, or -1 with a
 * message in err. */
int user_may(const struct user *u, const struct user_limits *l, uint32_t slots, uint64_t bytes,
             char *err, size_t err_size);

#endif
