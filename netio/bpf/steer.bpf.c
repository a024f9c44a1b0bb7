/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.bpf.c - the XDP program: gives the TOE what is addressed to it and leaves all else to the
 * kernel.
 *
 * The TOE's: IPv4 to its address (every protocol, fragments too, which carry no port to steer by),
 * and ARP that asks for, answers to or claims its address (RFC 826, RFC 5227). IPv6 to one of its
 * addresses, and neighbour discovery about one of them to whatever group; the rest of multicast is
 * the kernel's, and the TOE sees what it must of it through a packet socket (af_xdp.c). Tagged
 * frames (802.1Q) are the kernel's. IP that finds no socket is dropped, as while one toed takes
 * over from another: a kernel that forwards would send it on, or say to the peer that nobody is
 * there.
 *
 * With a shared address, which the kernel has too, the TOE's are only: TCP to one of its ports, and
 * ICMP errors about what it has sent from one of them. Fragments of the former are dropped: whole
 * they would be answered by the kernel, which knows nothing of them, with RST.
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

/* Written before the program is loaded. */
const volatile struct {
    __be32 address; /* network byte order; 0: no IPv4 */
    __u32 shared;
} config;

/* As NETIO_TAKE of toe/netio.h. */
#define TAKE        1
#define TAKE_OTHERS 2
#define TAKE_NO_SYN 4

/* Mapped by the process that has loaded it. */
struct {
    __u64 dropped;
    __u8 ports[65536]; /* TAKE_*: of TCP to this port */
} state;

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

#define PROTOCOL_ICMP 1
#define PROTOCOL_TCP  6
#define ICMP_LEN      8
#define FRAGMENT_BITS 0x3fff /* MF and the offset */
#define OFFSET_BITS   0x1fff

/* The header's length, 0: not sound. */
static __always_inline __u32 header_len(const struct ip_header *ip)
{
    __u32 words = ip->version_ihl & 0xf;

    return ip->version_ihl >> 4 == 4 && words >= 5 ? words * 4 : 0;
}

/* TAKE_* of the port at p; 0: it is the kernel's. */
static __always_inline int port_at(const __u8 *p, const void *end)
{
    if ((const void *)(p + 2) > end)
        return 0;
    return state.ports[(__u16)(p[0] << 8 | p[1])];
}

/* What the kernel has for this connection: BPF_TCP_*, 0: nothing. */
static __always_inline __u32 kernel_state(struct xdp_md *ctx, __be32 from, __be32 to,
                                          const __u8 *from_port, const __u8 *to_port)
{
    struct bpf_sock_tuple t = {};
    struct bpf_sock *sk;
    __u32 is;

    t.ipv4.saddr = from;
    t.ipv4.daddr = to;
    __builtin_memcpy(&t.ipv4.sport, from_port, 2);
    __builtin_memcpy(&t.ipv4.dport, to_port, 2);
    sk = bpf_skc_lookup_tcp(ctx, &t, sizeof(t.ipv4), BPF_F_CURRENT_NETNS, 0);
    if (!sk)
        return 0;
    is = sk->state;
    bpf_sk_release(sk);
    return is;
}

/* Is that a connection that the kernel has? What it merely remembers (TIME-WAIT) is none: the peer
 * may have begun it anew, with the TOE. An old FIN that comes again is answered with a reset then,
 * at worst, to one who has closed. */
static __always_inline int is_kernels(__u32 is)
{
    return is && is != BPF_TCP_LISTEN && is != BPF_TCP_TIME_WAIT;
}

/* RFC 792: unreachable, time exceeded, parameter problem, about a segment of the TOE's: behind the
 * ICMP header stands what it had sent. */
static __always_inline int is_error_for_us(struct xdp_md *ctx, const __u8 *icmp, const void *end)
{
    const struct ip_header *about = (const void *)(icmp + ICMP_LEN);
    const __u8 *tcp;
    __u32 len;
    int how;

    if ((const void *)(about + 1) > end || (icmp[0] != 3 && icmp[0] != 11 && icmp[0] != 12))
        return 0;
    len = header_len(about);
    if (!len || about->protocol != PROTOCOL_TCP || about->source != config.address ||
        about->fragment & bpf_htons(OFFSET_BITS))
        return 0;
    tcp = (const __u8 *)about + len;
    how = port_at(tcp, end);
    if (how & TAKE_OTHERS && (const void *)(tcp + 4) <= end)
        return !is_kernels(kernel_state(ctx, about->destination, about->source, tcp + 2, tcp));
    return how;
}

#define TCP_FLAGS 13
#define FLAG_SYN  2
#define FLAG_ACK  16

static __always_inline int verdict_tcp(struct xdp_md *ctx, const struct ip_header *ip,
                                       const __u8 *tcp, const void *end)
{
    int how = port_at(tcp + 2, end), syn;
    __u32 is;

    if (!how)
        return XDP_PASS;
    if (ip->fragment & bpf_htons(FRAGMENT_BITS)) {
        __sync_fetch_and_add(&state.dropped, 1);
        return XDP_DROP;
    }
    if (!(how & TAKE_OTHERS) || (const void *)(tcp + TCP_FLAGS + 1) > end)
        return XDP_REDIRECT;
    syn = (tcp[TCP_FLAGS] & (FLAG_SYN | FLAG_ACK)) == FLAG_SYN;
    is = kernel_state(ctx, ip->source, ip->destination, tcp, tcp + 2);
    if ((how & TAKE_NO_SYN) && syn && is)
        return XDP_PASS; /* to its listener too */
    return is_kernels(is) ? XDP_PASS : XDP_REDIRECT;
}

static __always_inline int verdict_shared(struct xdp_md *ctx, const struct ip_header *ip,
                                          const void *end)
{
    const __u8 *l4;
    __u32 len;

    if ((const void *)(ip + 1) > end || ip->destination != config.address)
        return XDP_PASS;
    len = header_len(ip);
    l4 = (const __u8 *)ip + len;
    if (!len || ip->fragment & bpf_htons(OFFSET_BITS))
        return XDP_PASS; /* of a datagram whose first part never comes, or not ours */
    if (ip->protocol == PROTOCOL_ICMP)
        return is_error_for_us(ctx, l4, end) ? XDP_REDIRECT : XDP_PASS;
    return ip->protocol == PROTOCOL_TCP ? verdict_tcp(ctx, ip, l4, end) : XDP_PASS;
}

static __always_inline int is_ours(const void *data, const void *end)
{
    const struct ethhdr *eth = data;
    const struct ip_header *ip = (const void *)(eth + 1);
    const struct arp_packet *arp = (const void *)(eth + 1);

    if (eth->h_proto == bpf_htons(ETH_P_IP))
        return (const void *)(ip + 1) <= end && ip->destination == config.address && config.address;
    if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        return is_ours6((const void *)(eth + 1), end);
    if (eth->h_proto == bpf_htons(ETH_P_ARP))
        return config.address && (const void *)(arp + 1) <= end &&
               arp->protocol == bpf_htons(ETH_P_IP) && arp->protocol_len == 4 &&
               arp->hardware_len == ETH_ALEN &&
               (arp->target_ip == config.address || arp->sender_ip == config.address);
    return 0;
}

SEC("xdp")
int toe_steer(struct xdp_md *ctx)
{
    const void *data = (const void *)(long)ctx->data;
    const void *end = (const void *)(long)ctx->data_end;
    const struct ethhdr *eth = data;
    int verdict;

    if ((const void *)(eth + 1) > end)
        return XDP_PASS;
    if (!config.shared)
        verdict = is_ours(data, end) ? XDP_REDIRECT : XDP_PASS;
    else
        verdict = eth->h_proto == bpf_htons(ETH_P_IP)
                      ? verdict_shared(ctx, (const void *)(eth + 1), end)
                      : XDP_PASS;
    if (verdict != XDP_REDIRECT)
        return verdict;
    verdict = bpf_redirect_map(&sockets, ctx->rx_queue_index,
                               eth->h_proto == bpf_htons(ETH_P_ARP) ? XDP_PASS : XDP_DROP);
    if (verdict == XDP_DROP)
        __sync_fetch_and_add(&state.dropped, 1);
    return verdict;
}

char steer_license[] SEC("license") = "Apache-2.0";
