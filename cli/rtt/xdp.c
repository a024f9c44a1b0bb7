/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xdp.c - which XDP metadata a driver offers, by the kernel's "netdev" family of generic netlink.
 * The constants are defined here, as headers before Linux 6.3 lack them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "xdp.h"

/* include/uapi/linux/netdev.h */
#define NETDEV_CMD_DEV_GET              1
#define NETDEV_A_DEV_IFINDEX            1
#define NETDEV_A_DEV_RX_METADATA        5
#define NETDEV_A_DEV_XSK_FEATURES       6
#define NETDEV_RX_METADATA_TIMESTAMP    1u
#define NETDEV_XSK_FEATURE_TX_TIMESTAMP 1u

struct request {
    struct nlmsghdr nl;
    struct genlmsghdr genl;
    struct nlattr attr;
    char value[16];
};

/* Sends a request with one attribute and receives the answer. Returns the bytes, or -1 with errno.
 */
static ssize_t request(int fd, uint16_t family, uint8_t command, uint16_t type, const void *value,
                       size_t len, void *answer, size_t size)
{
    struct request r = {.nl = {.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1},
                        .genl = {.cmd = command, .version = 1},
                        .attr = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type}};
    const struct nlmsghdr *head = answer;
    ssize_t n;

    memcpy(r.value, value, len);
    r.nl.nlmsg_len = (uint32_t)(offsetof(struct request, value) + NLA_ALIGN(len));
    if (send(fd, &r, r.nl.nlmsg_len, 0) < 0 || (n = recv(fd, answer, size, 0)) < 0)
        return -1;
    if (n < (ssize_t)sizeof *head || head->nlmsg_len > (size_t)n)
        errno = EPROTO;
    else if (head->nlmsg_type == NLMSG_ERROR)
        errno = -((const struct nlmsgerr *)NLMSG_DATA(head))->error;
    else
        return n;
    return -1;
}

/* Returns an attribute of an answer, or NULL. */
static const struct nlattr *find(const void *answer, uint16_t type)
{
    const struct nlmsghdr *head = answer;
    const char *p = (const char *)NLMSG_DATA(head) + GENL_HDRLEN;
    const char *end = (const char *)answer + head->nlmsg_len;

    while (end - p >= NLA_HDRLEN) {
        const struct nlattr *a = (const void *)p;

        if (a->nla_len < NLA_HDRLEN || a->nla_len > end - p)
            break;
        if ((a->nla_type & NLA_TYPE_MASK) == type)
            return a;
        p += NLA_ALIGN(a->nla_len);
    }
    return NULL;
}

static bool bit_of(const void *answer, uint16_t type, uint64_t bit)
{
    const struct nlattr *a = find(answer, type);
    uint64_t bits;

    if (!a || a->nla_len < NLA_HDRLEN + sizeof bits)
        return false;
    memcpy(&bits, (const char *)a + NLA_HDRLEN, sizeof bits);
    return bits & bit;
}

static int query_device(int fd, uint32_t index, unsigned *features)
{
    _Alignas(struct nlmsghdr) char answer[8192];
    const struct nlattr *a;
    uint16_t family;

    if (request(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, "netdev", 7, answer,
                sizeof answer) < 0)
        return errno == ENOENT ? 0 : -1;
    a = find(answer, CTRL_ATTR_FAMILY_ID);
    if (!a)
        return 0;
    memcpy(&family, (const char *)a + NLA_HDRLEN, sizeof family);
    if (request(fd, family, NETDEV_CMD_DEV_GET, NETDEV_A_DEV_IFINDEX, &index, sizeof index, answer,
                sizeof answer) < 0)
        return -1;
    if (bit_of(answer, NETDEV_A_DEV_RX_METADATA, NETDEV_RX_METADATA_TIMESTAMP))
        *features |= XDP_RX_TIMESTAMP;
    if (bit_of(answer, NETDEV_A_DEV_XSK_FEATURES, NETDEV_XSK_FEATURE_TX_TIMESTAMP))
        *features |= XDP_TX_TIMESTAMP;
    return 1;
}

int device_xdp(const char *interface, unsigned *features)
{
    uint32_t index = if_nametoindex(interface);
    int fd, rc, e;

    *features = 0;
    if (!index)
        return -1;
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (fd < 0)
        return -1;
    rc = query_device(fd, index, features);
    e = errno;
    close(fd);
    errno = e;
    return rc;
}

bool xdp_there(const char *interface, char *why, size_t size)
{
    unsigned features;
    int rc;

    if (!interface) {
        snprintf(why, size, "needs --interface");
        return false;
    }
    rc = device_xdp(interface, &features);
    if (rc < 0)
        snprintf(why, size, "%s: %s", interface, strerror(errno));
    else if (rc == 0)
        snprintf(why, size, "this kernel has no XDP metadata; it needs Linux 6.3 or later");
    else if (!(features & XDP_RX_TIMESTAMP))
        snprintf(why, size, "the driver of %s has no receive time stamps for XDP", interface);
    else if (!(features & XDP_TX_TIMESTAMP))
        snprintf(why, size,
                 "the driver of %s has receive time stamps for XDP but no transmit ones: a round "
                 "trip needs both",
                 interface);
    else
        snprintf(why, size,
                 "the driver of %s has both time stamps for XDP, which this toehold does not read; "
                 "use --source hardware, which has the same stamps",
                 interface);
    return false;
}

bool xdp_run(struct rtt *r)
{
    char why[RTT_WHY];

    xdp_there(r->o.interface, why, sizeof why);
    return rtt_fail(r, "%s", why);
}
