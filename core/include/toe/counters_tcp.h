/* SPDX-License-Identifier: Apache-2.0 */
/* counters_tcp.h - the counters of TCP; see counters.h. */
#ifndef TOE_COUNTERS_TCP_H
#define TOE_COUNTERS_TCP_H

#define TOEC_COUNTERS_TCP(X)                                                                       \
    X(tcp_rx, "TCP segments received")                                                             \
    X(tcp_tx, "TCP segments sent, segmentation offload counted once")                              \
    X(tcp_bad_header, "dropped: TCP header short, not contiguous or its length impossible")        \
    X(tcp_bad_checksum, "dropped: TCP checksum wrong")                                             \
    X(tcp_bad_option, "dropped: malformed TCP options")                                            \
    X(tcp_bad_source, "dropped: from our own address (land attack) or port 0")                     \
    X(tcp_no_port_rst, "segments without a flow or listener, answered with RST")                   \
    X(tcp_no_flow, "opens refused: all TCBs in use")                                               \
    X(tcp_reclaimed, "connections reset: all TCBs were in use, and these made no progress")        \
    X(tcp_no_listener, "listens refused: all listeners in use")                                    \
    X(tcp_no_port, "connects refused: no ephemeral port free")                                     \
    X(tcp_open_refused, "passive opens refused by the integrator (no slot, backlog full)")         \
    X(tcp_syn_received, "SYNs received by listeners")                                              \
    X(tcp_syn_again, "SYNs received again while half open")                                        \
    X(tcp_simultaneous_open, "simultaneous opens")                                                 \
    X(tcp_established, "connections established")                                                  \
    X(tcp_cookies_sent, "SYN cookies sent: backlog of half-open flows full")                       \
    X(tcp_deferred, "ACKs of a handshake left unheard: data is waited for (TCP_DEFER_ACCEPT)")     \
    X(tcp_cookies_taken, "connections made from SYN cookies")                                      \
    X(tcp_cookies_bad, "ACKs refused: no valid SYN cookie")                                        \
    X(tcp_paws, "dropped: timestamp older than the last (PAWS, RFC 7323)")                         \
    X(tcp_no_timestamp, "segments without the negotiated timestamp: accepted without PAWS")        \
    X(tcp_out_of_window, "dropped: sequence number outside the window")                            \
    X(tcp_bad_ack, "dropped: acknowledges what was never sent, or long ago")                       \
    X(tcp_no_ack_bit, "dropped: neither SYN nor ACK where one is needed")                          \
    X(tcp_challenge_acks, "challenge ACKs sent (RFC 5961)")                                        \
    X(tcp_challenge_limited, "challenge ACKs not sent: rate limit of the flow")                    \
    X(tcp_rst_received, "resets accepted")                                                         \
    X(tcp_rst_sent, "resets sent")                                                                 \
    X(tcp_out_of_order, "segments placed beyond a gap")                                            \
    X(tcp_ooo_full, "dropped: too many gaps in the receive stream")                                \
    X(tcp_scoreboard_full, "SACK blocks forgotten: too many holes in the send stream")             \
    X(tcp_no_record, "flows with a shortened record of sent or received ranges")                   \
    X(tcp_dsack_sent, "duplicates reported to the peer (RFC 2883)")                                \
    X(tcp_dsack_received, "reports of duplicates received (RFC 2883)")                             \
    X(tcp_dsack_ignored, "reports of more duplicates than were ever sent")                         \
    X(tcp_reneging, "peers that threw away what they had SACKed (RFC 2018 8)")                     \
    X(tcp_reo_timeouts, "losses found when the reordering window had passed (RFC 8985)")           \
    X(tcp_spurious_recoveries, "fast recoveries undone: nothing was lost")                         \
    X(tcp_spurious_timeouts, "timeouts undone: nothing was lost")                                  \
    X(tcp_retransmits, "data segments sent again")                                                 \
    X(tcp_fast_recoveries, "fast recoveries begun")                                                \
    X(tcp_tail_probes, "tail loss probes")                                                         \
    X(tcp_tail_repairs, "losses that a tail loss probe repaired")                                  \
    X(tcp_lost_retransmits, "retransmissions that were lost and repeated")                         \
    X(tcp_timeouts, "retransmission timeouts")                                                     \
    X(tcp_window_probes, "zero-window probes")                                                     \
    X(tcp_keepalive_probes, "keep-alive probes")                                                   \
    X(tcp_keepalive_dead, "connections ended: keep-alive probes not answered")                     \
    X(tcp_timed_out, "connections ended: no acknowledgement within R2 or the user timeout")        \
    X(tcp_unreachable, "sends that found the neighbour unreachable")                               \
    X(tcp_delayed_acks, "ACKs sent by the delayed-ACK timer")                                      \
    X(tcp_idle_restarts, "congestion windows halved: not used for five minutes")                   \
    X(tcp_data_after_close, "connections reset: data arrived after a full close")                  \
    X(tcp_close_unread, "connections reset: closed with received data unread")                     \
    X(tcp_fin_wait2_timeout, "closed connections whose peer never closed")                         \
    X(tcp_tw_recycled, "TIME-WAIT entries ended early: all in use")                                \
    X(tcp_tw_reopened, "TIME-WAIT pairs reopened by a newer SYN")                                  \
    X(tcp_tw_rst_ignored, "resets ignored in TIME-WAIT (old, unexpected or RFC 1337)")             \
    X(tcp_icmp_ignored, "ICMP errors ignored: quote nothing under way")                            \
    X(tcp_icmp_soft, "ICMP errors noted as soft errors")                                           \
    X(tcp_pmtu_lowered, "path MTUs lowered by ICMP")                                               \
    X(tcp_pmtu_doubted,                                                                            \
      "ICMP errors about the path MTU that contradict what has arrived: they wait")                \
    X(tcp_pmtu_refuted, "... and what they quote was acknowledged: not believed (RFC 5927 7.2)")   \
    X(tcp_mtu_probes, "larger segments sent to search the path MTU (RFC 4821 7)")                  \
    X(tcp_mtu_probes_lost, "... that were lost: no sign of congestion")                            \
    X(tcp_black_holes, "segment sizes lowered because full segments timed out (RFC 4821 7.7)")     \
    X(tcp_ecn_flows, "flows that negotiated ECN (RFC 3168)")                                       \
    X(tcp_ecn_fallback, "SYNs sent again without asking for ECN")                                  \
    X(tcp_ecn_ce, "data segments received with Congestion Experienced")                            \
    X(tcp_ecn_echoes, "ACKs received with ECE")                                                    \
    X(tcp_ecn_cuts, "congestion windows cut by ECE")                                               \
    X(tcp_fastopen_taken, "passive opens by Fast Open (RFC 7413)")                                 \
    X(tcp_fastopen_cookies_given, "Fast Open cookies sent")                                        \
    X(tcp_fastopen_bad_cookie, "SYNs with a Fast Open cookie that is not ours")                    \
    X(tcp_fastopen_limited, "Fast Opens not granted: too many handshakes pending")                 \
    X(tcp_fastopen_sent, "SYNs sent with data")                                                    \
    X(tcp_fastopen_acked, "... whose data the peer took")                                          \
    X(tcp_fastopen_lost, "SYNs with a Fast Open option or data not answered")                      \
    X(tcp_fastopen_blocked, "Fast Opens not tried: such SYNs were lost on this path")              \
    X(tcp_urgent, "urgent pointers of peers taken")                                                \
    X(tcp_eor_full, "record boundaries not kept: too many were not acknowledged")                  \
    X(tcp_ao_good, "segments received whose TCP-AO MAC was right (RFC 5925)")                      \
    X(tcp_ao_missing, "dropped: no TCP-AO option where a key demands it")                          \
    X(tcp_ao_no_key, "dropped: TCP-AO option of a KeyID, or from a peer, that there is no key of") \
    X(tcp_ao_bad_mac, "dropped: TCP-AO MAC wrong")                                                 \
    X(tcp_ao_bad_option, "dropped: TCP-AO option of another length, twice, or beside TCP MD5's")   \
    X(tcp_ao_no_flow, "dropped: TCP-AO option, and of no connection")                              \
    X(tcp_ao_no_room, "keys and opens refused: all TCP-AO keys in use")                            \
    X(tcp_ao_key_changes, "changes to another sending key that the peer has asked for")            \
    X(tcp_ao_icmp_ignored, "ICMP errors ignored: the connection has TCP-AO (RFC 5925 7.8)")

#endif
