/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.bpf.c - the XDP program: gives the TOE what is addressed to it and leaves all else to the
 * kernel.
 *
 * The TOE's: IPv4 to its address (every protocol, fragments too, which carry no port to steer by),
 * and ARP that asks for or answers to its address (RFC 826). Tagged frames (802.1Q) are the
 * kernel's. A queue without a socket falls through to the kernel.
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
    __u8 sender_ip[4];
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

/* Network byte order; written before the program is loaded. */
const volatile __be32 toe_address;

struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, 1); /* set to the number of queues before loading */
    __type(key, __u32);
    __type(value, __u32);
} sockets SEC(".maps");

static __always_inline int is_ours(const void *data, const void *end)
{
    const struct ethhdr *eth = data;
    const struct ip_header *ip = (const void *)(eth + 1);
    const struct arp_packet *arp = (const void *)(eth + 1);

    if ((const void *)(eth + 1) > end)
        return 0;
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        return (const void *)(ip + 1) <= end && ip->destination == toe_address;
    if (eth->h_proto == bpf_htons(ETH_P_ARP))
        return (const void *)(arp + 1) <= end && arp->protocol == bpf_htons(ETH_P_IP) &&
               arp->protocol_len == 4 && arp->hardware_len == ETH_ALEN &&
               arp->target_ip == toe_address;
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
