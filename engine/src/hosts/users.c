/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - see users.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/number.h>

#include "users.h"

static int limits_word(struct user_limits *l, const char *word, char *err, size_t err_size)
{
    const struct {
        const char *name;
        uint32_t *to;
    } known[] = {{"qps", &l->qps},
                 {"slots", &l->slots},
                 {"memory", &l->memory_mib},
                 {"listeners", &l->listeners},
                 {"commands", &l->commands}};
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : 0, i;

    for (i = 0; len && i < sizeof(known) / sizeof(known[0]); i++) {
        char want[TOE_NUMBER_WANT];
        uint64_t v;

        if (strlen(known[i].name) != len || memcmp(known[i].name, word, len) != 0)
            continue;
        if (!toe_number(equals + 1, 1, UINT32_MAX, &v, want, sizeof(want))) {
            snprintf(err, err_size, "'%s': want %s", word, want);
            return -1;
        }
        *known[i].to = (uint32_t)v;
        return 0;
    }
    snprintf(err, err_size,
             "'%s': want qps=N, slots=N, memory=MIB, listeners=N, commands=N, with commas between",
             word);
    return -1;
}

int limits_parse(struct user_limits *l, const char *text, char *err, size_t err_size)
{
    char word[64];

    for (;;) {
        size_t n = strcspn(text, ",");

        snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word) - 1,
                 text);
        if (limits_word(l, word, err, err_size) != 0)
            return -1;
        if (!text[n])
            return 0;
        text += n + 1;
    }
}

struct user *user_get(struct user **users, uid_t uid)
{
    struct user *u = *users;

    while (u && u->uid != uid)
        u = u->next;
    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->uid = uid;
    u->next = *users;
    *users = u;
    return u;
}

void user_put(struct user **users, struct user *u)
{
    if (u->qps)
        return;
    while (*users != u)
        users = &(*users)->next;
    *users = u->next;
    free(u);
}

int user_may(const struct user *u, const struct user_limits *l, uint32_t slots, uint64_t bytes,
             char *err, size_t err_size)
{
    const struct {
        const char *name;
        uint64_t asked, has, most;
    } of[] = {{"qps", 1, u->qps, l->qps},
              {"slots", slots, u->slots, l->slots},
              {"memory", bytes >> 20, u->bytes >> 20, l->memory_mib}};
    size_t i;

    if (u->uid == 0)
        return 0;
    for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
        if (of[i].most && of[i].asked + of[i].has > of[i].most) {
            snprintf(err, err_size,
                     "user %u has %llu and asks for %llu more: --user-limits has %s=%llu", u->uid,
                     (unsigned long long)of[i].has, (unsigned long long)of[i].asked, of[i].name,
                     (unsigned long long)of[i].most);
            return -1;
        }
    return 0;
}
