/* SPDX-License-Identifier: Apache-2.0 */
/* port_search.c - ephemeral ports one after the other (port_search.h). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include <toe/port_list.h>

#include "port_search.h"

#define RANGE    "/proc/sys/net/ipv4/ip_local_port_range"
#define RESERVED "/proc/sys/net/ipv4/ip_local_reserved_ports"
/* The kernel's defaults (ip-sysctl of its documents). */
#define FIRST 32768u
#define LAST  60999u

static uint8_t reserved[65536 / 8]; /* as of the last tport_search_begin() */

/* Reads a setting of the network namespace as text; empty when that is not possible. */
static void read_setting(const char *path, char *text, size_t size)
{
    int fd = (int)sys_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : sys_read(fd, text, size - 1);

    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        sys_close(fd);
}

/* Reads the range, in the same form as IP_LOCAL_PORT_RANGE. */
static uint32_t machine_range(void)
{
    char text[64], *end;
    unsigned long first, last;

    read_setting(RANGE, text, sizeof(text));
    first = strtoul(text, &end, 10);
    last = strtoul(end, NULL, 10);
    if (!first || first > last || last > 65535)
        return FIRST | LAST << 16;
    return (uint32_t)(first | last << 16);
}

static uint32_t random_below(uint32_t n)
{
    uint32_t r = 0;

    (void)!getrandom(&r, sizeof(r), GRND_NONBLOCK);
    return (uint32_t)((uint64_t)r * n >> 32);
}

void tport_search_begin(struct tport_search *s, uint32_t within)
{
    uint32_t range = machine_range(), low = range & 0xffff, high = range >> 16;
    uint32_t from = within & 0xffff, to = within >> 16;
    char list[4096];

    memset(reserved, 0, sizeof(reserved));
    read_setting(RESERVED, list, sizeof(list));
    toe_port_list(list, reserved);
    /* as inet_sk_get_local_port_range() of Linux */
    s->first = (uint16_t)(within && from >= low && from <= high ? from : low);
    high = within && to >= low && to <= high ? to : high;
    s->count = s->left = high >= s->first ? high - s->first + 1 : 0;
    s->at = (uint16_t)random_below(s->count);
}

uint16_t tport_search_next(struct tport_search *s)
{
    while (s->left) {
        uint16_t port = (uint16_t)(s->first + s->at);

        s->left--;
        s->at = (uint16_t)(s->at + 1u < s->count ? s->at + 1u : 0);
        if (!(reserved[port / 8] >> port % 8 & 1))
            return htons(port);
    }
    return 0;
}
