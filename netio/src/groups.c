/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - see groups.h. */
#include "groups.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NEXT_AT 20 /* next header of an IPv6 header that follows the Ethernet header */
#define DST_AT  38 /* destination */
#define TYPE_AT 54 /* of an ICMPv6 message that follows the IPv6 header directly */
/* A listener query follows a hop-by-hop header of 8 bytes (RFC 3810 5). */
#define QUERY_AT 62
#define SPA_AT   28 /* addresses of IPv4 in ARP: the sender's */
#define TPA_AT   38 /* ... and the target's */

/*
 * The beginning of both filters: incoming, of this VLAN and this type. The sockets receive frames
 * of all types, since the kernel shows a frame with its tag only to those; to sockets of one type,
 * frames of a VLAN look untagged. Without a tag SKF_AD_VLAN_TAG is 0.
 */
#define VLAN_AT 4 /* index of the test of the VLAN ID */
#define TPID_AT 6 /* ... of that for a service tag (802.1ad): only with a VLAN ID */
#define COMMON(type)                                                                               \
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),                               \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 5, 0),                                \
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TAG),                          \
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x0fff), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2), \
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TPID),                         \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),       \
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, type, 1, 0),   \
        BPF_STMT(BPF_RET | BPF_K, 0)

/* Accepts IPv6 to ff02::/16: ICMPv6 of type 134 or 136, or hop-by-hop and then 130. */
static const struct sock_filter groups[] = {
    COMMON(ETH_P_IPV6),
    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, DST_AT),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xff02, 0, 8),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NEXT_AT),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 58, 0, 5),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, TYPE_AT),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 134, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 136, 3, 2),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, QUERY_AT),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 130, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_RET | BPF_K, 0x40000),
};

/* Accepts ARP announcements (RFC 5227 3): the sender's address equals the target's. */
static const struct sock_filter announcements[] = {
    COMMON(ETH_P_ARP),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SPA_AT),
    BPF_STMT(BPF_MISC | BPF_TAX, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, TPA_AT),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0x40000),
    BPF_STMT(BPF_RET | BPF_K, 0),
};

#define FILTER_MAX 32u
_Static_assert(sizeof(groups) <= FILTER_MAX * sizeof(struct sock_filter), "the copy has room");

static int open_filtered(unsigned ifindex, uint16_t vlan, const struct sock_filter *filter,
                         size_t count)
{
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)ifindex};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, error;
    struct sock_filter own[FILTER_MAX];
    const struct sock_fprog program = {(unsigned short)count, own};

    if (fd < 0)
        return -1;
    memcpy(own, filter, count * sizeof(*filter));
    own[VLAN_AT].k = vlan;
    if (vlan)
        own[TPID_AT].k = ETH_P_8021AD;
    /* From Linux 4.20 on, frames that leave do not even reach the filter. */
    (void)setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    /* bound after the filter is attached, so no unfiltered frame arrives */
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0 &&
        bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int groups_open(unsigned ifindex, uint16_t vlan)
{
    return open_filtered(ifindex, vlan, groups, sizeof(groups) / sizeof(groups[0]));
}

int announcements_open(unsigned ifindex, uint16_t vlan)
{
    return open_filtered(ifindex, vlan, announcements,
                         sizeof(announcements) / sizeof(announcements[0]));
}

void groups_join(int fd, unsigned ifindex, const uint8_t addrs[][16], unsigned count)
{
    struct packet_mreq m = {.mr_ifindex = (int)ifindex,
                            .mr_type = PACKET_MR_MULTICAST,
                            .mr_alen = 6,
                            .mr_address = {0x33, 0x33, 0, 0, 0, 1}};
    unsigned i;

    (void)setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)); /* all nodes */
    for (i = 0; i < count; i++) {
        m.mr_address[2] = 0xff;
        memcpy(m.mr_address + 3, addrs[i] + 13, 3);
        (void)setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m));
    }
}

void groups_drain(int fd)
{
    char byte;

    while (fd >= 0 && recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) >= 0)
        ;
}
