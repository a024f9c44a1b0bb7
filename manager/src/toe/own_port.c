/* SPDX-License-Identifier: Apache-2.0 */
/* own_port.c - the port of a socket that was bound to port 0 (own_port.h). */
#include <linux/filter.h>
#include <string.h>

#include "fdtab.h"
#include "name.h"
#include "own_port.h"

#ifndef IP_LOCAL_PORT_RANGE /* Linux 6.3 */
#define IP_LOCAL_PORT_RANGE 51
#endif

static bool get_range(int fd, uint32_t *range)
{
    socklen_t len = sizeof(*range);

    return sys_getsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, range, &len) == 0;
}

static bool set_range(int fd, uint32_t range)
{
    return sys_setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range, sizeof(range)) == 0;
}

int tport_bind(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len, uint16_t port)
{
    struct sockaddr_storage to;
    uint32_t range = 0, only = (uint32_t)ntohs(port) << 16 | ntohs(port);
    bool ranges = get_range(fd, &range) && set_range(fd, only);
    int r, error;

    memcpy(&to, addr, len < sizeof(to) ? len : sizeof(to));
    tname_set_port((struct sockaddr *)&to, ranges ? 0 : port);
    r = sys_bind(fd, (const struct sockaddr *)&to, len);
    error = errno;
    if (ranges)
        set_range(fd, range);
    s->chosen = r == 0 && ranges;
    errno = error;
    return r;
}

void tport_release(struct tsock *s)
{
    /* no SYN may find the socket while it listens */
    struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog none = {.len = 1, .filter = &drop};
    int fd, saved = errno;

    if (likely(!s->chosen))
        return;
    s->chosen = 0;
    fd = tfd_find(&s->obj, -1);
    if (fd < 0)
        return;
    if (sys_setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &none, sizeof(none)) == 0) {
        /* shutdown() of a listener releases what bind() to port 0 has bound */
        s->released = sys_listen(fd, 0) == 0 && sys_shutdown(fd, SHUT_RD) == 0;
        sys_setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
    }
    errno = saved;
}

uint32_t tport_range(int fd)
{
    uint32_t range = 0;

    if (!get_range(fd, &range) || !range)
        return 0;
    return range >> 16 ? range : range | 0xffff0000u;
}
