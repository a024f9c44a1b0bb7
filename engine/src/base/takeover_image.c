/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_image.c - see takeover_image.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "takeover_image.h"

struct section {
    uint32_t kind, engine;
    uint64_t n; /* bytes that follow */
};

int takeover_put(void *arg, const void *data, toec_u32 n)
{
    struct takeover *t = arg;
    size_t room = 2 * t->room + n + 4096;
    uint8_t *p;

    if (t->failed)
        return -1;
    if (t->n + n > t->room) {
        p = realloc(t->bytes, room);
        if (!p) {
            t->failed = 1;
            return -1;
        }
        t->bytes = p;
        t->room = room;
    }
    if (n)
        memcpy(t->bytes + t->n, data, n);
    t->n += n;
    return 0;
}

void takeover_section(struct takeover *t, uint32_t kind, uint32_t engine)
{
    struct section s = {.kind = kind, .engine = engine};

    t->section = t->n;
    (void)takeover_put(t, &s, sizeof(s));
}

void takeover_section_end(struct takeover *t)
{
    uint64_t n = t->n - t->section - sizeof(struct section);

    if (!t->failed)
        memcpy(t->bytes + t->section + offsetof(struct section, n), &n, sizeof(n));
}

uint32_t takeover_fd(struct takeover *t, int fd)
{
    uint32_t room = 2 * t->fd_room + 64;
    int *p;

    if (fd < 0)
        return 0;
    if (t->fd_count == t->fd_room) {
        p = realloc(t->fds, room * sizeof(*p));
        if (!p) {
            t->failed = 1;
            return 0;
        }
        t->fds = p;
        t->fd_room = room;
    }
    t->fds[t->fd_count++] = fd;
    return t->fd_count;
}

int takeover_take_fd(struct takeover *t, uint64_t place)
{
    int fd;

    if (place == 0 || place > t->fd_count)
        return -1;
    fd = t->fds[place - 1];
    t->fds[place - 1] = -1;
    return fd;
}

const uint8_t *takeover_find(const struct takeover *t, uint32_t kind, uint32_t engine, size_t *n)
{
    size_t at = 0;

    while (t->n - at >= sizeof(struct section)) {
        struct section s;

        memcpy(&s, t->bytes + at, sizeof(s));
        at += sizeof(s);
        if (s.n > t->n - at)
            return NULL;
        if (s.kind == kind && s.engine == engine) {
            *n = s.n;
            return t->bytes + at;
        }
        at += s.n;
    }
    return NULL;
}

void takeover_free(struct takeover *t, int own)
{
    uint32_t i;

    for (i = 0; own && i < t->fd_count; i++)
        if (t->fds[i] >= 0)
            close(t->fds[i]);
    free(t->fds);
    free(t->bytes);
    memset(t, 0, sizeof(*t));
}
