/* SPDX-License-Identifier: Apache-2.0 */
/* keptopt.c - the values of options that libtoe does not act on (keptopt.h). */
#include <limits.h>
#include <string.h>

#include "keptopt.h"
#include "sockopt.h"

#define NAME_MAX_KEPT 255

/* Returns how struct tsock_opts numbers an option; 0: it is not stored. */
static uint16_t key_of(int level, int name)
{
    bool known =
        level == SOL_SOCKET || level == IPPROTO_IP || level == IPPROTO_TCP || level == IPPROTO_IPV6;

    return known && name > 0 && name <= NAME_MAX_KEPT ? (uint16_t)(level << 8 | name) : 0;
}

/* Returns the index of a key, or of the first free entry, or TKEPT_MAX. */
static uint32_t find(const struct tsock *s, uint16_t key)
{
    uint32_t i = 0;

    while (i < TKEPT_MAX && s->opts.kept_key[i] && s->opts.kept_key[i] != key)
        i++;
    return i;
}

bool tkept_note(struct tsock *s, int fd, int level, int name)
{
    uint16_t key = key_of(level, name);
    int32_t value = 0;
    socklen_t len = sizeof value;
    uint32_t i;

    if (!key || sys_getsockopt(fd, level, name, &value, &len) < 0 || len != sizeof value)
        return true; /* it can only be set, or is not an int */
    i = find(s, key);
    if (i == TKEPT_MAX)
        return false;
    s->opts.kept_key[i] = key;
    s->opts.kept_value[i] = value;
    return true;
}

int tkept_set(struct tsock *s, int level, int name, const void *value, socklen_t len, bool store)
{
    int fd = tsockopt_other(s), r, error;

    if (fd < 0)
        return -1;
    r = sys_setsockopt(fd, level, name, value, len);
    if (r == 0 && store && !tkept_note(s, fd, level, name))
        r = terr(ENOBUFS);
    error = errno;
    sys_close(fd);
    errno = error;
    return r;
}

/* Returns an int as Linux does: at the levels of IP, a buffer that is too small gets one byte. */
static int give_int(int level, int32_t v, void *value, socklen_t *len)
{
    bool ip = level == IPPROTO_IP || level == IPPROTO_IPV6;
    uint8_t byte = (uint8_t)v;

    if (*len > INT_MAX)
        return terr(EINVAL);
    if (ip && *len && *len < sizeof v && v == byte) {
        *len = sizeof byte;
        memcpy(value, &byte, sizeof byte);
        return 0;
    }
    if (*len > sizeof v)
        *len = sizeof v;
    memcpy(value, &v, *len);
    return 0;
}

int32_t tkept_value(const struct tsock *s, int level, int name)
{
    uint16_t key = key_of(level, name);
    uint32_t i = key ? find(s, key) : TKEPT_MAX;

    return i < TKEPT_MAX && s->opts.kept_key[i] ? s->opts.kept_value[i] : 0;
}

int tkept_get(const struct tsock *s, int level, int name, void *value, socklen_t *len)
{
    uint16_t key = key_of(level, name);
    uint32_t i = key ? find(s, key) : TKEPT_MAX;
    int fd, r, error;

    if (i < TKEPT_MAX && s->opts.kept_key[i])
        return give_int(level, s->opts.kept_value[i], value, len);
    fd = tsockopt_other(s);
    if (fd < 0)
        return -1;
    r = sys_getsockopt(fd, level, name, value, len);
    error = errno;
    sys_close(fd);
    errno = error;
    return r;
}
