/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <algorithm>
#include <cstring>

namespace sim
{

namespace
{

constexpr unsigned kEth = 14, kIp = 20, kTcp = 20, kHeaders = kEth + kIp + kTcp, kLeast = 60;
constexpr unsigned kFin = 1, kSyn = 2, kRst = 4, kPsh = 8, kAck = 16;
constexpr unsigned kScale = 7; /* of the peer's window, which is always open */
constexpr uint8_t kMac[6] = {2, 0, 0, 0, 0, 2};

void put16(uint8_t *to, uint32_t v)
{
    to[0] = static_cast<uint8_t>(v >> 8);
    to[1] = static_cast<uint8_t>(v);
}

void put32(uint8_t *to, uint32_t v)
{
    put16(to, v >> 16);
    put16(to + 2, v & 0xffff);
}

uint32_t get16(const uint8_t *b)
{
    return uint32_t{b[0]} << 8 | b[1];
}

uint32_t get32(const uint8_t *b)
{
    return get16(b) << 16 | get16(b + 2);
}

uint32_t sum(const uint8_t *b, unsigned n, uint32_t s)
{
    for (unsigned i = 0; i + 1 < n; i += 2)
        s += get16(b + i);
    return n % 2 ? s + (uint32_t{b[n - 1]} << 8) : s;
}

uint16_t fold(uint32_t s)
{
    s = (s & 0xffff) + (s >> 16);
    return static_cast<uint16_t>((s & 0xffff) + (s >> 16));
}

/* Sums a segment of n bytes after its IPv4 header; 0xffff: the checksum is right. */
uint16_t tcp_sum(const uint8_t *ip, unsigned n)
{
    return fold(sum(ip + kIp, n, sum(ip + 12, 8, 6 + n)));
}

} // namespace

Peer::Peer(const Own &toe, unsigned flows, unsigned mss, std::function<void(Frame)> put)
    : toe_(toe), mss_(mss), put_(std::move(put)), flows_(flows)
{
    for (unsigned i = 0; i < flows; i++)
        flows_[i].snd_nxt = flows_[i].snd_una = 1000003 * (i + 1);
}

void Peer::complain(const std::string &what)
{
    if (wrong_.empty())
        wrong_ = what;
}

/* Sends the peer's ARP request. Its address ends in 2; it is also the TOE's gateway. */
void Peer::announce()
{
    Frame f(kLeast);

    std::memset(f.data(), 0xff, 6);
    std::memcpy(&f[6], kMac, 6);
    put32(&f[12], 0x08060001);
    put32(&f[16], 0x08000604);
    put16(&f[20], 1);
    std::memcpy(&f[22], kMac, 6);
    std::memcpy(&f[28], toe_.ip, 4);
    f[31] = 2;
    std::memcpy(&f[38], toe_.ip, 4);
    put_(f);
}

/* Answers ARP requests for this peer. */
void Peer::take_arp(const Frame &q)
{
    if (get16(&q[20]) != 1 || std::memcmp(&q[38], toe_.ip, 3) != 0 || q[41] != 2)
        return;
    Frame f = q;

    std::memcpy(&f[0], &q[6], 6);
    std::memcpy(&f[6], kMac, 6);
    put16(&f[20], 2);
    std::memcpy(&f[22], kMac, 6);
    std::memcpy(&f[28], &q[38], 4);
    std::memcpy(&f[32], &q[22], 10);
    put_(f);
}

Frame Peer::segment(unsigned i, unsigned flags, unsigned payload)
{
    Flow &w = flows_[i];
    unsigned options = flags & kSyn ? 8 : 0, length = kIp + kTcp + options + payload;
    Frame f(std::max(kEth + length, kLeast));
    uint8_t *ip = &f[kEth], *tcp = ip + kIp, *data = tcp + kTcp + options;

    std::memcpy(&f[0], toe_.mac, 6);
    std::memcpy(&f[6], kMac, 6);
    put16(&f[12], 0x0800);
    ip[0] = 0x45;
    put16(ip + 2, length);
    ip[8] = 64;
    ip[9] = 6;
    std::memcpy(ip + 12, toe_.ip, 4);
    ip[15] = 2;
    std::memcpy(ip + 16, toe_.ip, 4);
    put16(ip + 10, static_cast<uint16_t>(~fold(sum(ip, kIp, 0))));
    put16(tcp, kFirstPort + i);
    put16(tcp + 2, kPort);
    put32(tcp + 4, w.snd_nxt);
    put32(tcp + 8, flags & kAck ? w.rcv_nxt : 0);
    tcp[12] = static_cast<uint8_t>((kTcp + options) / 4 << 4);
    tcp[13] = static_cast<uint8_t>(flags);
    put16(tcp + 14, 0xffff);
    if (options) {
        put32(tcp + 20, 0x02040000 | mss_);
        put32(tcp + 24, 0x01030300 | kScale);
    }
    for (unsigned k = 0; k < payload; k++)
        data[k] = pattern(i, true, w.sent + k);
    put16(tcp + 16, static_cast<uint16_t>(~tcp_sum(ip, length - kIp)));
    w.snd_nxt += payload + ((flags & kSyn) != 0);
    w.sent += payload;
    if (flags & kAck)
        w.unacked = 0;
    return f;
}

void Peer::open(unsigned i)
{
    put_(segment(i, kSyn, 0));
}

bool Peer::send(unsigned i, unsigned bytes)
{
    if (static_cast<int32_t>(flows_[i].snd_edge - flows_[i].snd_nxt - bytes) < 0)
        return false;
    put_(segment(i, kAck | kPsh, bytes));
    return true;
}

void Peer::acknowledge(unsigned i)
{
    put_(segment(i, kAck, 0));
}

Frame Peer::bare(unsigned i)
{
    return segment(i, kAck, 0);
}

void Peer::take_payload(unsigned i, const uint8_t *payload, uint32_t seq, unsigned n)
{
    Flow &w = flows_[i];

    if (seq != w.rcv_nxt) {
        complain("flow " + std::to_string(i) + ": a segment that is not the next");
        return;
    }
    for (unsigned k = 0; k < n; k++)
        if (payload[k] != pattern(i, false, w.got + k)) {
            complain("flow " + std::to_string(i) + ": byte " + std::to_string(w.got + k) +
                     " sent is not the one that was written");
            return;
        }
    w.got += n;
    w.rcv_nxt += n;
    w.segments++;
    segments_++;
    bytes_ += n;
    if (++w.unacked >= 2)
        acknowledge(i);
}

void Peer::take(const Frame &f)
{
    const uint8_t *ip = &f[kEth], *tcp = ip + kIp;

    if (get16(&f[12]) == 0x0806)
        take_arp(f);
    if (get16(&f[12]) != 0x0800 || ip[9] != 6)
        return;
    unsigned length = get16(ip + 2), i = get16(tcp + 2) - kFirstPort;
    unsigned header = 4u * (tcp[12] >> 4), flags = tcp[13];

    if (length + kEth > f.size() || i >= flows_.size() || (flags & (kRst | kFin)) ||
        fold(sum(ip, kIp, 0)) != 0xffff || tcp_sum(ip, length - kIp) != 0xffff) {
        complain("a segment that is damaged, of no flow, or ends one");
        return;
    }
    Flow &w = flows_[i];
    if (flags & kSyn) {
        w.rcv_nxt = get32(tcp + 4) + 1;
        for (unsigned at = kTcp; at < header;
             at += tcp[at] <= 1 ? 1 : std::max(tcp[at + 1], uint8_t{2}))
            if (tcp[at] == 3)
                w.scale = tcp[at + 2];
        w.open = true;
    }
    w.snd_una = get32(tcp + 8);
    w.snd_edge = w.snd_una + (get16(tcp + 14) << (flags & kSyn ? 0 : w.scale));
    if (flags & kSyn)
        acknowledge(i);
    else if (length > kIp + header)
        take_payload(i, tcp + header, get32(tcp + 4), length - kIp - header);
}

} // namespace sim
