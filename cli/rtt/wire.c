/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - builds probes and parses their answers (wire.h). */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <string.h>

#include "wire.h"

struct payload {
    uint32_t magic, run;
    uint64_t number;
};

#define ECHO_BYTES 8u
#define SYN_MSS    1460u

void wire_payload(const struct probe_id *id, uint64_t n, void *out, size_t size)
{
    struct payload p = {htonl(PROBE_MAGIC), htonl(id->run), htobe64(n)};

    memset(out, 0, size);
    memcpy(out, &p, sizeof p);
}

bool wire_payload_number(const struct probe_id *id, const void *in, size_t size, uint64_t *n)
{
    struct payload p;

    if (size < sizeof p)
        return false;
    memcpy(&p, in, sizeof p);
    *n = be64toh(p.number);
    return p.magic == htonl(PROBE_MAGIC) && p.run == htonl(id->run);
}

/* RFC 1071. */
static uint32_t add_up(uint32_t sum, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t i;

    for (i = 0; i < size; i++)
        sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
    return sum;
}

static uint16_t folded(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

static bool is_ip6(const struct probe_id *id)
{
    return id->to.ss_family == AF_INET6;
}

size_t wire_echo(const struct probe_id *id, uint64_t n, void *out, size_t size)
{
    uint8_t *p = out;
    uint16_t head[4] = {0, 0, htons(id->echo), htons((uint16_t)n)}, sum;

    p[0] = is_ip6(id) ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
    memcpy(p + 4, &head[2], 4);
    p[1] = p[2] = p[3] = 0;
    wire_payload(id, n, p + ECHO_BYTES, size);
    if (!is_ip6(id)) {
        sum = folded(add_up(0, p, ECHO_BYTES + size));
        memcpy(p + 2, &sum, 2);
    }
    return ECHO_BYTES + size;
}

/* Skips the IP header, which IPv4 raw sockets include. NULL: the header is cut short. */
static const uint8_t *behind_ip(const struct probe_id *id, const uint8_t *in, size_t *size)
{
    size_t header;

    if (is_ip6(id))
        return in;
    if (*size < sizeof(struct iphdr))
        return NULL;
    header = (size_t)(in[0] & 15) * 4;
    if (header < sizeof(struct iphdr) || header > *size)
        return NULL;
    *size -= header;
    return in + header;
}

bool wire_echo_number(const struct probe_id *id, const uint8_t *in, size_t size, uint64_t *n)
{
    const uint8_t *p = behind_ip(id, in, &size);

    return p && size >= ECHO_BYTES && p[0] == (is_ip6(id) ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) &&
           wire_payload_number(id, p + ECHO_BYTES, size - ECHO_BYTES, n);
}

/* Returns the sum of the TCP pseudo header. */
static uint32_t pseudo(const struct probe_id *id, size_t len)
{
    uint32_t sum = IPPROTO_TCP + (uint32_t)len;

    if (is_ip6(id)) {
        sum = add_up(sum, &((const struct sockaddr_in6 *)&id->local)->sin6_addr, 16);
        return add_up(sum, &((const struct sockaddr_in6 *)&id->to)->sin6_addr, 16);
    }
    sum = add_up(sum, &((const struct sockaddr_in *)&id->local)->sin_addr, 4);
    return add_up(sum, &((const struct sockaddr_in *)&id->to)->sin_addr, 4);
}

static uint16_t port_of(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
                                    : ((const struct sockaddr_in *)a)->sin_port;
}

size_t wire_syn(const struct probe_id *id, uint64_t n, void *out)
{
    struct {
        struct tcphdr tcp;
        uint8_t mss[4];
    } s;

    memset(&s, 0, sizeof s);
    s.tcp.source = htons(id->syn_port[n % SYN_PORTS]);
    s.tcp.dest = port_of(&id->to);
    s.tcp.seq = htonl(id->isn + (uint32_t)n);
    s.tcp.doff = sizeof s / 4;
    s.tcp.syn = 1;
    s.tcp.window = htons(65535);
    s.mss[0] = TCPOPT_MAXSEG;
    s.mss[1] = TCPOLEN_MAXSEG;
    s.mss[2] = SYN_MSS >> 8;
    s.mss[3] = SYN_MSS & 0xff;
    s.tcp.check = folded(add_up(pseudo(id, sizeof s), &s, sizeof s));
    memcpy(out, &s, sizeof s);
    return sizeof s;
}

bool wire_syn_number(const struct probe_id *id, const uint8_t *in, size_t size, uint32_t *n,
                     bool *refused)
{
    const uint8_t *p = behind_ip(id, in, &size);
    struct tcphdr tcp;

    if (!p || size < sizeof tcp)
        return false;
    memcpy(&tcp, p, sizeof tcp);
    *n = ntohl(tcp.ack_seq) - 1 - id->isn;
    *refused = tcp.rst;
    return tcp.source == port_of(&id->to) && tcp.ack && (tcp.syn || tcp.rst) &&
           tcp.dest == htons(id->syn_port[*n % SYN_PORTS]);
}
