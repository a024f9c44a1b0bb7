/* SPDX-License-Identifier: Apache-2.0 */
/* preload_net.c - libc's names that create sockets and query them (preload.h). */
#define _GNU_SOURCE
#include "policy.h"
#include "preload.h"

/* libtoe sees the creation of every socket. Those that it can never carry are left to the kernel.
 */
EXPORT(int, socket, (int domain, int type, int protocol))
{
    return CARRY(toe_socket(domain, type, protocol));
}
EXPORT_ALIAS(int, __socket, socket, (int, int, int));

EXPORT(int, bind, (int fd, const struct sockaddr *addr, socklen_t len))
{
    int r;

    if (is_toe_fd(fd))
        return CHECKED(bad_address(addr, len), CARRY(toe_bind(fd, addr, len)));
    r = libc.bind(fd, addr, len);
    if (unlikely(r < 0))
        tpolicy_bind_failed(fd, addr, len);
    return r;
}

EXPORT(int, listen, (int fd, int backlog))
{
    return is_toe_fd(fd) ? CARRY(toe_listen(fd, backlog)) : libc.listen(fd, backlog);
}

/* With no place for the address: as on Linux, which finds that out with a connection in its hands,
 * the connection is closed. */
static int accept_without_room(int fd, int flags)
{
    int conn = toe_accept4(fd, NULL, NULL, flags);

    if (conn < 0)
        return conn;
    (void)toe_close(conn);
    return terr(EFAULT);
}

static int accept_on_toe(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    return unlikely(addr && bad_name(addr, len)) ? accept_without_room(fd, flags)
                                                 : toe_accept4(fd, addr, len, flags);
}

EXPORT(int, accept, (int fd, struct sockaddr *addr, socklen_t *len))
{
    return is_toe_fd(fd) ? CARRY_BLOCKING(accept_on_toe(fd, addr, len, 0))
                         : (waits(), tpolicy_accepted(fd, libc.accept(fd, addr, len)));
}

EXPORT(int, accept4, (int fd, struct sockaddr *addr, socklen_t *len, int flags))
{
    return is_toe_fd(fd) ? CARRY_BLOCKING(accept_on_toe(fd, addr, len, flags))
                         : (waits(), tpolicy_accepted(fd, libc.accept4(fd, addr, len, flags)));
}

EXPORT(int, connect, (int fd, const struct sockaddr *addr, socklen_t len))
{
    return is_toe_fd(fd)
               ? CHECKED(bad_address(addr, len), CARRY_BLOCKING(toe_connect(fd, addr, len)))
               : (waits(), libc.connect(fd, addr, len));
}
EXPORT_ALIAS(int, __connect, connect, (int, const struct sockaddr *, socklen_t));

EXPORT(int, shutdown, (int fd, int how))
{
    return is_toe_fd(fd) ? CARRY(toe_shutdown(fd, how)) : libc.shutdown(fd, how);
}

EXPORT(int, getsockname, (int fd, struct sockaddr *addr, socklen_t *len))
{
    return is_toe_fd(fd) ? CHECKED(bad_name(addr, len), CARRY(toe_getsockname(fd, addr, len)))
                         : libc.getsockname(fd, addr, len);
}

EXPORT(int, getpeername, (int fd, struct sockaddr *addr, socklen_t *len))
{
    return is_toe_fd(fd) ? CHECKED(bad_name(addr, len), CARRY(toe_getpeername(fd, addr, len)))
                         : libc.getpeername(fd, addr, len);
}

EXPORT(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len))
{
    bool ours = is_toe_fd(fd) || unlikely(level == IPPROTO_TCP && name == TOE_TCP_CARRIER);

    return ours ? CHECKED(tuser_unwritable(len, sizeof *len) ||
                              (value && tuser_unwritable(value, *len)),
                          CARRY(toe_getsockopt(fd, level, name, value, len)))
                : libc.getsockopt(fd, level, name, value, len);
}

EXPORT(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len))
{
    return is_toe_fd(fd) ? CHECKED(bad_or_null(value, len),
                                   CARRY(toe_setsockopt(fd, level, name, value, len)))
                         : libc.setsockopt(fd, level, name, value, len);
}
