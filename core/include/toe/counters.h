/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - every drop and every rare event of core/ has a counter: X(name, description). The
 * list is the single source of the enumeration below and of the names that tools print. Counters
 * never decrease.
 */
#ifndef TOE_COUNTERS_H
#define TOE_COUNTERS_H

#include <toe/counters_tcp.h>

#define TOEC_COUNTERS_IP(X)                                                                        \
    X(rx_frames, "frames given to toec_input")                                                     \
    X(rx_bytes, "bytes of those frames")                                                           \
    X(tx_frames, "frames accepted by transmit")                                                    \
    X(tx_bytes, "bytes of those frames, headers counted once per segmentation offload")            \
    X(tx_full, "times transmit had no room")                                                       \
    X(tx_unresolved_drop, "frames without a flow dropped: neighbour unknown or transmit full")     \
    X(eth_short, "dropped: shorter than an Ethernet header with its tags")                         \
    X(eth_not_ours, "dropped: unicast to another Ethernet address")                                \
    X(eth_unknown_type, "dropped: neither ARP nor a family this stack has an address of")          \
    X(eth_vlan, "dropped: tagged with a VLAN ID")                                                  \
    X(eth_priority, "frames with an 802.1Q priority tag (VLAN ID 0), taken as untagged")           \
    X(arp_rx, "ARP packets received")                                                              \
    X(arp_bad, "dropped: malformed ARP or impossible sender")                                      \
    X(arp_off_link, "dropped: ARP sender outside the on-link network")                             \
    X(arp_requests_sent, "ARP requests sent, announcements included")                              \
    X(arp_replies_sent, "ARP replies sent")                                                        \
    X(arp_conflict, "another host claims our address")                                             \
    X(neigh_changed,                                                                               \
      "known neighbours that announced another Ethernet address: taken, then verified")            \
    X(arp_not_learned, "ARP senders not learned: table full of used neighbours")                   \
    X(neigh_evicted, "neighbours evicted to make room")                                            \
    X(neigh_failed, "neighbours that did not answer")                                              \
    X(neigh_full, "sends delayed: neighbour table full, or too many neighbours waited for")        \
    X(ip4_short, "dropped: shorter than an IPv4 header, or header not contiguous")                 \
    X(ip4_bad_version, "dropped: version is not 4")                                                \
    X(ip4_bad_header_len, "dropped: header length below 20 or beyond the datagram")                \
    X(ip4_bad_total_len, "dropped: total length beyond the frame or below the header")             \
    X(ip4_bad_checksum, "dropped: header checksum wrong")                                          \
    X(ip4_bad_source, "dropped: source address no host may use (martian)")                         \
    X(ip4_bad_option, "dropped: malformed options")                                                \
    X(ip4_source_route, "dropped: source routing option")                                          \
    X(ip4_not_ours, "dropped: destination is not our address")                                     \
    X(ip4_group_frame, "dropped: Ethernet group frame with a unicast destination")                 \
    X(ip4_unknown_proto, "dropped: protocol unknown (protocol unreachable answered)")              \
    X(ip4_no_route, "datagrams not sent: no route")                                                \
    X(ip4_frags_rx, "fragments received")                                                          \
    X(ip4_frag_bad, "dropped: fragment with impossible offset or length")                          \
    X(ip4_frag_duplicate, "dropped: fragment whose bytes were all received before")                \
    X(ip4_frag_overlap, "datagrams dropped: fragments overlap in part")                            \
    X(ip4_frag_timeout, "datagrams dropped: not complete after 60 s")                              \
    X(ip4_frag_evicted, "datagrams dropped: room needed for a newer one")                          \
    X(ip4_frag_ecn, "datagrams dropped: ECN-capable and other fragments in one (RFC 3168 5.3)")    \
    X(ip4_reassembled, "datagrams reassembled")                                                    \
    X(ip6_short, "dropped: shorter than an IPv6 header, or header not contiguous")                 \
    X(ip6_bad_version, "dropped: version is not 6")                                                \
    X(ip6_bad_length, "dropped: payload length beyond the frame")                                  \
    X(ip6_bad_source, "dropped: source address no host may use here (martian)")                    \
    X(ip6_not_ours, "dropped: destination is neither our address nor our group")                   \
    X(ip6_group_frame, "dropped: Ethernet group frame with a unicast destination")                 \
    X(ip6_bad_ext, "dropped: extension header beyond the packet or not contiguous")                \
    X(ip6_chain_long, "dropped: too many extension headers, or too long")                          \
    X(ip6_bad_option, "dropped: malformed or too many options")                                    \
    X(ip6_unknown_option, "dropped: unknown option whose type requires a drop")                    \
    X(ip6_routing, "dropped: routing header with segments left")                                   \
    X(ip6_no_next, "dropped: no next header")                                                      \
    X(ip6_unknown_next,                                                                            \
      "dropped: next header unknown or out of place (parameter problem answered)")                 \
    X(ip6_no_route, "packets not sent: no route")                                                  \
    X(ip6_frags_rx, "IPv6 fragments received")                                                     \
    X(ip6_frag_atomic, "packets that are one fragment (RFC 6946)")                                 \
    X(ip6_frag_bad, "dropped: IPv6 fragment with impossible offset or length")                     \
    X(ip6_frag_chain, "dropped: first fragment without the whole header chain (RFC 7112)")         \
    X(ip6_frag_duplicate, "dropped: IPv6 fragment whose bytes were all received before")           \
    X(ip6_frag_overlap, "dropped: IPv6 fragment of a datagram with overlapping ones (RFC 5722)")   \
    X(ip6_frag_ecn, "IPv6 datagrams dropped: some fragments ECN-capable, others not")              \
    X(ip6_frag_timeout, "IPv6 datagrams dropped: not complete after 60 s")                         \
    X(ip6_reassembled, "IPv6 datagrams reassembled")                                               \
    X(nd_rx, "neighbour discovery messages received")                                              \
    X(nd_bad, "dropped: discovery message that fails a check of RFC 4861")                         \
    X(nd_not_ours, "dropped: solicitation for another's address")                                  \
    X(nd_limited, "solicitations not answered: rate limit")                                        \
    X(nd_not_learned, "solicitors not learned: table full of used neighbours")                     \
    X(nd_solicits_sent, "neighbour solicitations sent, duplicate detection included")              \
    X(nd_adverts_sent, "neighbour advertisements sent")                                            \
    X(nd_rs_sent, "router solicitations sent")                                                     \
    X(nd_ra_taken, "router advertisements taken")                                                  \
    X(nd_bad_prefix, "advertised prefixes not taken: impossible")                                  \
    X(nd_tables_full, "routers, prefixes or addresses not taken: tables full")                     \
    X(nd_redirects, "redirects taken")                                                             \
    X(nd_conflict, "another host advertises our address")                                          \
    X(nd_dad_failed, "own addresses found to be another's before use")                             \
    X(mld_queries, "multicast listener queries received")                                          \
    X(mld_bad, "dropped: impossible multicast listener query")                                     \
    X(mld_reports_sent, "multicast listener reports sent")                                         \
    X(pmtu_evicted, "path MTUs forgotten: room needed for another")                                \
    X(pmtu_expired, "path MTUs forgotten after ten minutes")                                       \
    X(icmp_short, "dropped: ICMP message too short")                                               \
    X(icmp_bad_checksum, "dropped: ICMP checksum wrong")                                           \
    X(icmp_unknown_type, "dropped: ICMP type not handled")                                         \
    X(icmp_ignored, "redirects and source quenches: ignored")                                      \
    X(icmp_echo_rx, "echo requests received")                                                      \
    X(icmp_echo_sent, "echo replies sent")                                                         \
    X(icmp_echo_limited, "echo requests not answered: rate limit")                                 \
    X(icmp_error_rx, "ICMP errors received")                                                       \
    X(icmp_error_bad_quote, "dropped: ICMP error that quotes neither TCP nor UDP of ours")         \
    X(icmp_error_sent, "ICMP errors sent")                                                         \
    X(icmp_error_limited, "ICMP errors not sent: rate limit")                                      \
    X(udp_bad, "dropped: UDP header or checksum wrong")                                            \
    X(udp_rx, "UDP datagrams given to endpoints")                                                  \
    X(udp_tx, "UDP datagrams sent")                                                                \
    X(udp_fragments, "fragments of UDP datagrams sent beside the last ones")                       \
    X(udp_full, "UDP endpoints refused: all in use")                                               \
    X(udp_icmp_ignored, "ICMP errors ignored: quote nothing that a UDP endpoint has sent")         \
    X(udp_no_port, "UDP datagrams to our address (port unreachable answered)")

#define TOEC_COUNTERS(X) TOEC_COUNTERS_IP(X) TOEC_COUNTERS_TCP(X)

#define TOEC_COUNTER_ENUM(name, description) TOEC_C_##name,
enum toec_counter { TOEC_COUNTERS(TOEC_COUNTER_ENUM) TOEC_C_MAX };
#undef TOEC_COUNTER_ENUM

#endif
