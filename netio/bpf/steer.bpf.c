/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.bpf.c - the XDP program: gives the TOE what is addressed to it and leaves all else to the
 * kernel.
 *
 * The TOE's: IPv4 to its address (every protocol, fragments too, which carry no port to steer by),
 * and ARP that asks for, answers to or claims its address (RFC 826, RFC 5227). IPv6 to one of its
 * addresses, and neighbour discovery about one of them to whatever group; the rest of multicast is
 * the kernel's, and the TOE sees what it must of it through a packet socket (af_xdp.c). All that is
 * so within one VLAN if the TOE is in a VLAN, else for untagged traffic; the rest is the kernel's.
 * A priority tag (VLAN ID 0) makes no difference. IP that finds no socket is dropped, as while one
 * toed takes over from another: a kernel that forwards would send it on, or report to the peer that
 * no host has it.
 *
 * With shared addresses, which the kernel has too, the TOE's are only: TCP to one of its ports, and
 * ICMP errors about what it has sent from one of them. Fragments of the former are dropped: whole
 * they would be answered by the kernel, which knows nothing of them, with RST. Of IPv6 that is TCP
 * right behind the header; packets with extension headers are the kernel's.
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

#define NEXT_FRAGMENT 44
#define NEXT_ICMP6    58
#define ND_SOLICIT    135
#define ND_ADVERTISE  136
#define ADDRESSES_MAX 16
#define PLACES_MAX    4096 /* as STEER_PLACES of steer.h */

/* Written before the program is loaded. */
const volatile struct {
    __be32 address; /* network byte order; 0: no IPv4 */
    __u32 shared;
    __u32 vlan; /* the TOE's VLAN ID; 0: none */
} config;

/* As NETIO_TAKE of toe/netio.h. */
#define TAKE        1
#define TAKE_OTHERS 2
#define TAKE_NO_SYN 4
#define TAKE_SOME   8

/* Of `ports`: one for each family. */
#define IP4 0
#define IP6 1

/* Mapped by the process that has loaded it. */
struct {
    __u64 dropped;
    __u8 ports[2][65536]; /* TAKE_*: of TCP to this port */
} state;

/* The TOE's addresses of IPv6, those still tested for duplicates too. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ADDRESSES_MAX);
    __uint(key_size, 16);
    __uint(value_size, 1);
} addresses SEC(".maps");

/* With TAKE_SOME: the addresses of IPv6 at which the port is the TOE's. */
struct place {
    __u8 addr[16];
    __be16 port;
} __attribute__((packed));

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, PLACES_MAX);
    __uint(key_size, sizeof(struct place));
    __uint(value_size, 1);
} places SEC(".maps");

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
#define ICMP_LEN      8 /* of both families */
#define FRAGMENT_LEN  8
#define FRAGMENT_BITS 0x3fff /* MF and the offset */
#define OFFSET_BITS   0x1fff

/* The header's length, 0: not sound. */
static __always_inline __u32 header_len(const struct ip_header *ip)
{
    __u32 words = ip->version_ihl & 0xf;

    return ip->version_ihl >> 4 == 4 && words >= 5 ? words * 4 : 0;
}

/* TAKE_* of the port at p; 0: it is the kernel's. */
static __always_inline int port_at(const __u8 *p, const void *end, int family)
{
    if ((const void *)(p + 2) > end)
        return 0;
    return state.ports[family][(__u16)(p[0] << 8 | p[1])];
}

/* The same of a port at an address of IPv6. */
static __always_inline int place_at(const __u8 *addr, const __u8 *p, const void *end)
{
    int how = port_at(p, end, IP6);
    struct place key;

    if (!(how & TAKE_SOME))
        return how;
    __builtin_memcpy(key.addr, addr, sizeof(key.addr));
    __builtin_memcpy(&key.port, p, sizeof(key.port));
    return bpf_map_lookup_elem(&places, &key) ? how : 0;
}

/* Returns the state of the kernel's socket for this connection: BPF_TCP_*, 0: none. size selects
 * the family. */
static __always_inline __u32 state_of(struct xdp_md *ctx, struct bpf_sock_tuple *t, __u32 size)
{
    struct bpf_sock *sk = bpf_skc_lookup_tcp(ctx, t, size, BPF_F_CURRENT_NETNS, 0);
    __u32 is;

    if (!sk)
        return 0;
    is = sk->state;
    bpf_sk_release(sk);
    return is;
}

static __always_inline __u32 kernel_state(struct xdp_md *ctx, __be32 from, __be32 to,
                                          const __u8 *from_port, const __u8 *to_port)
{
    struct bpf_sock_tuple t = {};

    t.ipv4.saddr = from;
    t.ipv4.daddr = to;
    __builtin_memcpy(&t.ipv4.sport, from_port, 2);
    __builtin_memcpy(&t.ipv4.dport, to_port, 2);
    return state_of(ctx, &t, sizeof(t.ipv4));
}

static __always_inline __u32 kernel_state6(struct xdp_md *ctx, const __u8 *from, const __u8 *to,
                                           const __u8 *from_port, const __u8 *to_port)
{
    struct bpf_sock_tuple t = {};

    __builtin_memcpy(t.ipv6.saddr, from, 16);
    __builtin_memcpy(t.ipv6.daddr, to, 16);
    __builtin_memcpy(&t.ipv6.sport, from_port, 2);
    __builtin_memcpy(&t.ipv6.dport, to_port, 2);
    return state_of(ctx, &t, sizeof(t.ipv6));
}

/* Whether the kernel has that connection. One in TIME-WAIT does not count: the peer may have
 * opened it again, with the TOE. At worst a retransmitted FIN is then answered with a reset, to a
 * peer that has closed. */
static __always_inline int is_kernels(__u32 is)
{
    return is && is != BPF_TCP_LISTEN && is != BPF_TCP_TIME_WAIT;
}

/* RFC 792: unreachable, time exceeded, parameter problem, about a segment of the TOE's: it
 * follows the ICMP header. */
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
    how = port_at(tcp, end, IP4);
    if (how & TAKE_OTHERS && (const void *)(tcp + 4) <= end)
        return !is_kernels(kernel_state(ctx, about->destination, about->source, tcp + 2, tcp));
    return how;
}

#define TCP_FLAGS 13
#define FLAG_SYN  2
#define FLAG_ACK  16

/* A segment to a port that the TOE takes so; is: what the kernel has for it. */
static __always_inline int verdict_of(int how, int syn, __u32 is)
{
    if ((how & TAKE_NO_SYN) && syn && is)
        return XDP_PASS; /* to its listener too */
    return is_kernels(is) ? XDP_PASS : XDP_REDIRECT;
}

/* Whether the verdict depends on the kernel's sockets; the frame contains the segment's flags. */
static __always_inline int must_ask(int how, const __u8 *tcp, const void *end)
{
    return (how & TAKE_OTHERS) && (const void *)(tcp + TCP_FLAGS + 1) <= end;
}

static __always_inline int is_syn(const __u8 *tcp)
{
    return (tcp[TCP_FLAGS] & (FLAG_SYN | FLAG_ACK)) == FLAG_SYN;
}

static __always_inline int drop(void)
{
    __sync_fetch_and_add(&state.dropped, 1);
    return XDP_DROP;
}

static __always_inline int verdict_tcp(struct xdp_md *ctx, const struct ip_header *ip,
                                       const __u8 *tcp, const void *end)
{
    int how = port_at(tcp + 2, end, IP4);

    if (!how)
        return XDP_PASS;
    if (ip->fragment & bpf_htons(FRAGMENT_BITS))
        return drop();
    if (!must_ask(how, tcp, end))
        return XDP_REDIRECT;
    return verdict_of(how, is_syn(tcp),
                      kernel_state(ctx, ip->source, ip->destination, tcp, tcp + 2));
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

/* RFC 4443 3: unreachable, too big, time exceeded, parameter problem, about a segment of the TOE's.
 */
static __always_inline int is_error6_for_us(struct xdp_md *ctx, const __u8 *icmp, const void *end)
{
    const struct ip6_header *about = (const void *)(icmp + ICMP_LEN);
    const __u8 *tcp = (const void *)(about + 1);
    int how;

    if ((const void *)tcp > end || icmp[0] < 1 || icmp[0] > 4 || about->next != PROTOCOL_TCP ||
        !bpf_map_lookup_elem(&addresses, about->source))
        return 0;
    how = place_at(about->source, tcp, end);
    if (how & TAKE_OTHERS && (const void *)(tcp + 4) <= end)
        return !is_kernels(kernel_state6(ctx, about->destination, about->source, tcp + 2, tcp));
    return how;
}

/* RFC 8200 4.5: the first fragment of TCP to one of the TOE's ports. */
static __always_inline int is_fragment6(const struct ip6_header *ip, const __u8 *frag,
                                        const void *end)
{
    return (const void *)(frag + FRAGMENT_LEN) <= end && frag[0] == PROTOCOL_TCP && frag[2] == 0 &&
           (frag[3] & 0xf8) == 0 && place_at(ip->destination, frag + FRAGMENT_LEN + 2, end);
}

static __always_inline int verdict_shared6(struct xdp_md *ctx, const struct ip6_header *ip,
                                           const void *end)
{
    const __u8 *l4 = (const void *)(ip + 1);
    __u8 key[16];
    int how;

    if ((const void *)l4 > end)
        return XDP_PASS;
    __builtin_memcpy(key, ip->destination, sizeof(key));
    if (!bpf_map_lookup_elem(&addresses, key))
        return XDP_PASS;
    if (ip->next == NEXT_ICMP6)
        return (const void *)(l4 + ICMP_LEN) <= end && is_error6_for_us(ctx, l4, end) ? XDP_REDIRECT
                                                                                      : XDP_PASS;
    if (ip->next == NEXT_FRAGMENT)
        return is_fragment6(ip, l4, end) ? drop() : XDP_PASS;
    how = ip->next == PROTOCOL_TCP ? place_at(key, l4 + 2, end) : 0;
    if (!how)
        return XDP_PASS;
    if (!must_ask(how, l4, end))
        return XDP_REDIRECT;
    return verdict_of(how, is_syn(l4), kernel_state6(ctx, ip->source, ip->destination, l4, l4 + 2));
}

static __always_inline int verdict_of_shared(struct xdp_md *ctx, const struct ethhdr *eth,
                                             const void *end)
{
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        return verdict_shared(ctx, (const void *)(eth + 1), end);
    if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        return verdict_shared6(ctx, (const void *)(eth + 1), end);
    return XDP_PASS;
}

#define VLAN_TAG_LEN  4
#define VLAN_TAGS_MAX 2 /* a priority tag before that of a VLAN */
#define VLAN_ID_BITS  0x0fff

/* Moves *at from the header of a frame to the same without its addresses, behind its tags: the type
 * and what follows it have their places as in an untagged frame. Returns 0 when the frame is not of
 * the TOE's VLAN, or is of several. Not a pointer that may be NULL: without CAP_PERFMON the kernel
 * accepts no comparison of a packet's pointer with 0. */
static __always_inline int untag(const struct ethhdr **at, const void *end)
{
    const struct ethhdr *eth = *at;
    __u32 vlan = 0;
    int i;

#pragma unroll
    for (i = 0; i < VLAN_TAGS_MAX; i++) {
        const __be16 *tci = (const void *)(eth + 1);
        const struct ethhdr *inner = (const void *)eth + VLAN_TAG_LEN;
        __u32 id;

        if (eth->h_proto != bpf_htons(ETH_P_8021Q) && eth->h_proto != bpf_htons(ETH_P_8021AD))
            break;
        if ((const void *)(inner + 1) > end)
            return 0;
        id = bpf_ntohs(*tci) & VLAN_ID_BITS;
        if (id && (vlan || eth->h_proto != bpf_htons(ETH_P_8021Q)))
            return 0;
        if (id)
            vlan = id;
        eth = inner;
    }
    *at = eth;
    return vlan == config.vlan;
}

static __always_inline int is_ours(const struct ethhdr *eth, const void *end)
{
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
    if (!untag(&eth, end))
        return XDP_PASS;
    if (!config.shared)
        verdict = is_ours(eth, end) ? XDP_REDIRECT : XDP_PASS;
    else
        verdict = verdict_of_shared(ctx, eth, end);
    if (verdict != XDP_REDIRECT)
        return verdict;
    verdict = bpf_redirect_map(&sockets, ctx->rx_queue_index,
                               eth->h_proto == bpf_htons(ETH_P_ARP) ? XDP_PASS : XDP_DROP);
    if (verdict == XDP_DROP)
        __sync_fetch_and_add(&state.dropped, 1);
    return verdict;
}

char steer_license[] SEC("license") = "Apache-2.0";
