/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drops.h - the counters that count received frames which are dropped: X(counter, words). One frame
 * adds one to at most one of them while toec_input() processes it, which is how an integrator finds
 * the reason for a drop. The words are about one frame, for people; counters.h describes the sums.
 * Counters of other drops (datagrams that time out or are evicted) are not in the list.
 */
#ifndef TOE_DROPS_H
#define TOE_DROPS_H

#define TOEC_DROPS_IP(X)                                                                           \
    X(eth_short, "shorter than an Ethernet header with its tags")                                  \
    X(eth_not_ours, "unicast to another Ethernet address")                                         \
    X(eth_unknown_type, "neither ARP nor a family the TOE has an address of")                      \
    X(eth_vlan, "tagged with a VLAN ID")                                                           \
    X(arp_bad, "malformed ARP or impossible sender")                                               \
    X(arp_off_link, "ARP sender outside the on-link network")                                      \
    X(ip4_short, "shorter than an IPv4 header")                                                    \
    X(ip4_bad_version, "IP version is not 4")                                                      \
    X(ip4_bad_header_len, "IPv4 header length below 20 or beyond the datagram")                    \
    X(ip4_bad_total_len, "IPv4 total length beyond the frame or below the header")                 \
    X(ip4_bad_checksum, "IPv4 header checksum wrong")                                              \
    X(ip4_bad_source, "IPv4 source address that no host may use (martian)")                        \
    X(ip4_bad_option, "malformed IPv4 options")                                                    \
    X(ip4_source_route, "IPv4 source routing option")                                              \
    X(ip4_not_ours, "IPv4 destination is not the TOE's address")                                   \
    X(ip4_group_frame, "Ethernet group frame with an IPv4 unicast destination")                    \
    X(ip4_unknown_proto, "IPv4 protocol unknown (protocol unreachable answered)")                  \
    X(ip4_frag_bad, "IPv4 fragment with impossible offset or length")                              \
    X(ip4_frag_duplicate, "IPv4 fragment whose bytes were all received before")                    \
    X(ip4_frag_overlap, "IPv4 fragment that overlaps another in part")                             \
    X(ip4_frag_ecn, "IPv4 fragment whose ECN bits contradict the other fragments")                 \
    X(ip6_short, "shorter than an IPv6 header")                                                    \
    X(ip6_bad_version, "IP version is not 6")                                                      \
    X(ip6_bad_length, "IPv6 payload length beyond the frame")                                      \
    X(ip6_bad_source, "IPv6 source address that no host may use here (martian)")                   \
    X(ip6_not_ours, "IPv6 destination is neither the TOE's address nor its group")                 \
    X(ip6_group_frame, "Ethernet group frame with an IPv6 unicast destination")                    \
    X(ip6_bad_ext, "IPv6 extension header beyond the packet")                                      \
    X(ip6_chain_long, "too many IPv6 extension headers, or too long")                              \
    X(ip6_bad_option, "malformed or too many IPv6 options")                                        \
    X(ip6_unknown_option, "unknown IPv6 option whose type requires a drop")                        \
    X(ip6_routing, "IPv6 routing header with segments left")                                       \
    X(ip6_no_next, "IPv6 without a next header")                                                   \
    X(ip6_unknown_next, "IPv6 next header unknown (parameter problem answered)")                   \
    X(ip6_frag_bad, "IPv6 fragment with impossible offset or length")                              \
    X(ip6_frag_chain, "first IPv6 fragment without the whole header chain (RFC 7112)")             \
    X(ip6_frag_duplicate, "IPv6 fragment whose bytes were all received before")                    \
    X(ip6_frag_overlap, "IPv6 fragment of a datagram with overlapping ones (RFC 5722)")            \
    X(ip6_frag_ecn, "IPv6 fragment whose ECN bits contradict the other fragments")                 \
    X(nd_bad, "discovery message that fails a check of RFC 4861")                                  \
    X(nd_not_ours, "solicitation for another's address")                                           \
    X(nd_limited, "solicitation not answered: rate limit")                                         \
    X(mld_bad, "impossible multicast listener query")                                              \
    X(icmp_short, "ICMP message too short")                                                        \
    X(icmp_bad_checksum, "ICMP checksum wrong")                                                    \
    X(icmp_unknown_type, "ICMP type not handled")                                                  \
    X(icmp_ignored, "ICMP redirect or source quench: ignored")                                     \
    X(icmp_echo_limited, "echo request not answered: rate limit")                                  \
    X(icmp_error_bad_quote, "ICMP error that quotes neither TCP nor UDP of the TOE")               \
    X(udp_bad, "UDP header or checksum wrong")                                                     \
    X(udp_icmp_ignored, "ICMP error that quotes nothing a UDP endpoint has sent")                  \
    X(udp_no_port, "no UDP endpoint has the port (port unreachable answered)")

#define TOEC_DROPS_TCP(X)                                                                          \
    X(tcp_bad_header, "TCP header short or its length impossible")                                 \
    X(tcp_bad_checksum, "TCP checksum wrong")                                                      \
    X(tcp_bad_option, "malformed TCP options")                                                     \
    X(tcp_bad_source, "from the TOE's own address (land attack) or port 0")                        \
    X(tcp_no_port_rst, "of no connection and no listener (RST answered)")                          \
    X(tcp_no_flow, "open refused: all TCBs in use")                                                \
    X(tcp_open_refused, "open refused by the host: no slot, or backlog full")                      \
    X(tcp_deferred, "ACK of a handshake: data is waited for (TCP_DEFER_ACCEPT)")                   \
    X(tcp_cookies_bad, "ACK without a valid SYN cookie")                                           \
    X(tcp_paws, "timestamp older than the last (PAWS, RFC 7323)")                                  \
    X(tcp_out_of_window, "sequence number outside the window")                                     \
    X(tcp_bad_ack, "acknowledges what was never sent, or long ago")                                \
    X(tcp_no_ack_bit, "neither SYN nor ACK where one is needed")                                   \
    X(tcp_ooo_full, "too many gaps in the receive stream")                                         \
    X(tcp_data_after_close, "data after a full close (connection reset)")                          \
    X(tcp_tw_rst_ignored, "reset in TIME-WAIT: ignored (RFC 1337)")                                \
    X(tcp_icmp_ignored, "ICMP error that quotes nothing under way")                                \
    X(tcp_ao_missing, "no TCP-AO option where a key demands it")                                   \
    X(tcp_ao_no_key, "TCP-AO option of an unknown KeyID or peer")                                  \
    X(tcp_ao_bad_mac, "TCP-AO MAC wrong")                                                          \
    X(tcp_ao_bad_option, "TCP-AO option of another length, twice, or beside TCP MD5's")            \
    X(tcp_ao_no_flow, "TCP-AO option of no connection")                                            \
    X(tcp_ao_icmp_ignored, "ICMP error for a connection with TCP-AO (RFC 5925 7.8)")

#define TOEC_DROPS(X) TOEC_DROPS_IP(X) TOEC_DROPS_TCP(X)

#endif
