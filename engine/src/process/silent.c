/* SPDX-License-Identifier: Apache-2.0 */
/* silent.c - which silent connection to the control socket makes room for a new one (silent.h). */
#include <sys/socket.h>

#include "control.h"
#include "silent.h"

/* Returns whether nothing is to be read, not even the end of the connection. */
static int is_silent(const struct client *cl)
{
    char byte;

    return client_is_silent(cl) && recv(cl->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

static uint32_t count_of(const struct client *clients, uint32_t count, uid_t uid)
{
    uint32_t i, n = 0;

    for (i = 0; i < count; i++)
        n += client_is_silent(&clients[i]) && clients[i].uid == uid;
    return n;
}

static uint32_t count_of_users(const struct client *clients, uint32_t count)
{
    uint32_t i, n = 0;

    for (i = 0; i < count; i++)
        n += client_is_silent(&clients[i]) && clients[i].uid != 0;
    return n;
}

/* Returns the user, not root, that has the most connections without a hello. */
static uid_t heaviest(const struct client *clients, uint32_t count)
{
    uint32_t i, n, most = 0;
    uid_t uid = 0;

    for (i = 0; i < count; i++) {
        if (!client_is_silent(&clients[i]) || clients[i].uid == 0 || clients[i].uid == uid)
            continue;
        n = count_of(clients, count, clients[i].uid);
        if (n > most) {
            most = n;
            uid = clients[i].uid;
        }
    }
    return uid;
}

/* The deadlines are in the order of the connections. */
static uint32_t oldest_of(const struct client *clients, uint32_t count, uid_t uid)
{
    uint32_t i, found = SILENT_NONE;

    for (i = 0; i < count; i++)
        if (clients[i].uid == uid && client_is_silent(&clients[i]) &&
            (found == SILENT_NONE || clients[i].deadline < clients[found].deadline) &&
            is_silent(&clients[i]))
            found = i;
    return found;
}

uint32_t silent_victim(const struct client *clients, uint32_t count, uid_t uid)
{
    if (count_of(clients, count, uid) >= (uid ? SILENT_PER_USER : SILENT_OF_ROOT))
        return oldest_of(clients, count, uid);
    if (uid && count_of_users(clients, count) >= SILENT_OF_USERS)
        return oldest_of(clients, count, heaviest(clients, count));
    return SILENT_NONE;
}
