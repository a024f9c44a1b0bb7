/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.bpf.c - the XDP program: gives the TOE what is addressed to it and leaves all else to the
 * kernel.
 *
 * The TOE's: IPv4 to its address (every protocol, fragments too, which carry no port to steer by),
 * and ARP that asks for, answers to or claims its address (RFC 826, RFC 5227). IPv6 to one of its
 * addresses, and neighbour discovery about one of them to whatever group; the rest of multicast is
 * the kernel's, and the TOE sees what it must of it through a packet socket (af_xdp.c). Tagged
 * frames (802.1Q) are the kernel's. A queue without a socket falls through to the kernel.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* RFC 826, Ethernet and IPv4. */
struct arp_packet {
    __be16 hardware;
    __be16 protocol;
    __u8 hardware_len;
    __u8 protocol_len;
    __be16 operation;
    __u8 sender_mac[ETH_ALEN];
    __be32 sender_ip;
    __u8 target_mac[ETH_ALEN];
    __be32 target_ip;
} __attribute__((packed));

/* RFC 791, the part without options. */
struct ip_header {
    __u8 version_ihl;
    __u8 tos;
    __be16 total_len;
    __be16 id;
    __be16 fragment;
    __u8 ttl;
    __u8 protocol;
    __be16 checksum;
    __be32 source;
    __be32 destination;
} __attribute__((packed));

/* RFC 8200, and of an ICMPv6 message that follows it at once what RFC 4861 4.3, 4.4 put there. */
struct ip6_header {
    __be32 first;
    __be16 payload;
    __u8 next;
    __u8 hops;
    __u8 source[16];
    __u8 destination[16];
} __attribute__((packed));

struct discovery {
    __u8 type;
    __u8 code;
    __be16 checksum;
    __be32 reserved;
    __u8 target[16];
} __attribute__((packed));

#define NEXT_ICMP6    58
#define ND_SOLICIT    135
#define ND_ADVERTISE  136
#define ADDRESSES_MAX 16

/* Network byte order; written before the program is loaded. 0: no IPv4. */
const volatile __be32 toe_address;

/* The TOE's addresses of IPv6, those still tested for duplicates too. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ADDRESSES_MAX);
    __uint(key_size, 16);
    __uint(value_size, 1);
} addresses SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, 1); /* set to the number of queues before loading */
    __type(key, __u32);
    __type(value, __u32);
} sockets SEC(".maps");

static __always_inline int is_ours6(const struct ip6_header *ip, const void *end)
{
    const struct discovery *nd = (const void *)(ip + 1);
    __u8 key[16];

    if ((const void *)(ip + 1) > end)
        return 0;
    __builtin_memcpy(key, ip->destination, sizeof(key));
    if (key[0] != 0xff)
        return bpf_map_lookup_elem(&addresses, key) != 0;
    if (ip->next != NEXT_ICMP6 || (const void *)(nd + 1) > end ||
        (nd->type != ND_SOLICIT && nd->type != ND_ADVERTISE))
        return 0;
    __builtin_memcpy(key, nd->target, sizeof(key));
    return bpf_map_lookup_elem(&addresses, key) != 0;
}

static __always_inline int is_ours(const void *data, const void *end)
{
    const struct ethhdr *eth = data;
    const struct ip_header *ip = (const void *)(eth + 1);
    const struct arp_packet *arp = (const void *)(eth + 1);

    if ((const void *)(eth + 1) > end)
        return 0;
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        return (const void *)(ip + 1) <= end && ip->destination == toe_address && toe_address;
    if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        return is_ours6((const void *)(eth + 1), end);
    if (eth->h_proto == bpf_htons(ETH_P_ARP))
        return toe_address && (const void *)(arp + 1) <= end &&
               arp->protocol == bpf_htons(ETH_P_IP) && arp->protocol_len == 4 &&
               arp->hardware_len == ETH_ALEN &&
               (arp->target_ip == toe_address || arp->sender_ip == toe_address);
    return 0;
}

SEC("xdp")
int toe_steer(struct xdp_md *ctx)
{
    const void *data = (const void *)(long)ctx->data;
    const void *end = (const void *)(long)ctx->data_end;

    if (!is_ours(data, end))
        return XDP_PASS;
    return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}

char steer_license[] SEC("license") = "Apache-2.0";
