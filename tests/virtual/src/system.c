/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.c - settings of a whole system that libtoe has for each socket alone: Fast Open's, as
 * Linux has them in net.ipv4.tcp_fastopen and tcp_fastopen_key.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <toe/toe.h>

#include "system.h"
#include "world.h"

static int tcp_option(int fd, int name)
{
    int value = 0;
    socklen_t len = sizeof(value);

    return toe_getsockopt(fd, IPPROTO_TCP, name, &value, &len) == 0 ? value : 0;
}

static void set_tcp_option(int fd, int name, int value)
{
    int e = errno;

    (void)toe_setsockopt(fd, IPPROTO_TCP, name, &value, sizeof(value)); /* not of a TCP socket */
    errno = e;
}

void system_take_key(int fd)
{
    uint8_t key[32];
    socklen_t len = sizeof(key);
    int e = errno;

    if (world.knobs.has_fo_key &&
        toe_getsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_KEY, key, &len) == 0 && len == 0)
        (void)toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_KEY, world.knobs.fo_key,
                             sizeof(world.knobs.fo_key));
    errno = e;
}

int system_listen(int fd, int backlog)
{
    uint32_t bits = world.knobs.fastopen;

    if (!(bits & FO_SERVER)) {
        if (tcp_option(fd, TCP_FASTOPEN))
            set_tcp_option(fd, TCP_FASTOPEN, 0);
        return toe_listen(fd, backlog);
    }
    if ((bits & FO_EVERY_LISTENER) && !tcp_option(fd, TCP_FASTOPEN)) {
        system_take_key(fd);
        set_tcp_option(fd, TCP_FASTOPEN, backlog);
    }
    if (bits & FO_SERVER_NO_COOKIE)
        set_tcp_option(fd, TCP_FASTOPEN_NO_COOKIE, 1);
    return toe_listen(fd, backlog);
}

int system_client_may(int fd, int wanted)
{
    if (wanted && !(world.knobs.fastopen & FO_CLIENT)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (wanted && (world.knobs.fastopen & FO_CLIENT_NO_COOKIE))
        set_tcp_option(fd, TCP_FASTOPEN_NO_COOKIE, 1);
    return 0;
}
