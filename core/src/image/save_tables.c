/* SPDX-License-Identifier: Apache-2.0 */
/* save_tables.c - the members of each structure in an image, and their tags (save.h). */
#include "save_tables.h"

#include "../cc/cc_bbr.h"
#include "../cc/cc_bbr1.h"
#include "../cc/cc_cubic.h"
#include "../cc/cc_dctcp.h"
#include "../cc/cc_newreno.h"

#define N(tag, type, member)                                                                       \
    TOEC_FIELD(tag, TOEC_FIELD_INT, type, member, TOEC_OFFSETOF(type, member))
#define B(tag, type, member)                                                                       \
    TOEC_FIELD(tag, TOEC_FIELD_BYTES, type, member, TOEC_OFFSETOF(type, member))
#define TABLE(rows)                                                                                \
    {                                                                                              \
        rows, sizeof(rows) / sizeof((rows)[0])                                                     \
    }

static const struct toec_field stack_rows[] = {
    B(10, struct toec_stack, cfg.secret),         B(11, struct toec_stack, cfg.ip6_secret),
    N(12, struct toec_stack, rand_count),         N(13, struct toec_stack, ip4),
    N(14, struct toec_stack, pmtu.gen),           N(15, struct toec_stack, arp.announcements),
    N(16, struct toec_stack, arp.tested),         N(17, struct toec_stack, arp.probes),
    N(18, struct toec_stack, arp.taken),          B(19, struct toec_stack, arp.claimer),
    N(20, struct toec_stack, arp.defend_after),   N(21, struct toec_stack, ip6.retrans),
    N(22, struct toec_stack, ip6.reachable),      N(23, struct toec_stack, ip6.reachable_draw),
    N(24, struct toec_stack, ip6.base_reachable), N(25, struct toec_stack, ip6.mtu),
    N(26, struct toec_stack, ip6.hops),           N(27, struct toec_stack, ip6.rs_sent),
    N(28, struct toec_stack, ip6.router_hand),    N(29, struct toec_stack, ip6.mld_left),
    N(30, struct toec_stack, ip6.mld_changed),    N(31, struct toec_stack, link_mtu),
    B(32, struct toec_stack, cfg.isn_secret),
};
const struct toec_table toec_t_stack = TABLE(stack_rows);

static const struct toec_field own6_rows[] = {
    B(1, struct toec_own6, addr),        N(2, struct toec_own6, preferred_until),
    N(3, struct toec_own6, valid_until), N(4, struct toec_own6, state),
    N(5, struct toec_own6, prefix_len),  N(6, struct toec_own6, automatic),
    N(7, struct toec_own6, dad_sent),    N(8, struct toec_own6, dad_counter),
    B(9, struct toec_own6, nonce),
};
const struct toec_table toec_t_own6 = TABLE(own6_rows);

static const struct toec_field prefix6_rows[] = {
    B(1, struct toec_prefix6, prefix),
    N(2, struct toec_prefix6, until),
    N(3, struct toec_prefix6, len),
};
const struct toec_table toec_t_prefix6 = TABLE(prefix6_rows);

static const struct toec_field router6_rows[] = {
    B(1, struct toec_router6, addr),
    N(2, struct toec_router6, until),
};
const struct toec_table toec_t_router6 = TABLE(router6_rows);

static const struct toec_field redirect6_rows[] = {
    B(1, struct toec_redirect6, dst),
    B(2, struct toec_redirect6, via),
    N(3, struct toec_redirect6, until),
};
const struct toec_table toec_t_redirect6 = TABLE(redirect6_rows);

static const struct toec_field neigh_rows[] = {
    B(1, struct toec_neigh, addr),      B(2, struct toec_neigh, mac),
    N(3, struct toec_neigh, confirmed), N(4, struct toec_neigh, state),
    N(5, struct toec_neigh, tries),     N(6, struct toec_neigh, used),
    N(7, struct toec_neigh, router),
};
const struct toec_table toec_t_neigh = TABLE(neigh_rows);

static const struct toec_field pmtu_rows[] = {
    B(1, struct toec_pmtu_entry, dst),       N(2, struct toec_pmtu_entry, mtu),
    N(3, struct toec_pmtu_entry, no_df),     N(4, struct toec_pmtu_entry, udp_mtu),
    N(5, struct toec_pmtu_entry, udp_no_df),
};
const struct toec_table toec_t_pmtu = TABLE(pmtu_rows);

static const struct toec_field listener_rows[] = {
    B(1, struct toec_listener, addr),          N(2, struct toec_listener, port),
    N(3, struct toec_listener, families),      N(4, struct toec_listener, overflowed),
    N(5, struct toec_listener, ecn),           N(6, struct toec_listener, discover),
    N(7, struct toec_listener, tos),           N(8, struct toec_listener, user_mss),
    N(9, struct toec_listener, backlog),       N(10, struct toec_listener, overflow_at),
    N(11, struct toec_listener, fo.max),       N(12, struct toec_listener, fo.resets),
    N(13, struct toec_listener, fo.reset_at),  N(14, struct toec_listener, fo.serial),
    N(15, struct toec_listener, fo.no_cookie), N(16, struct toec_listener, fo.n_keys),
    N(17, struct toec_listener, fo.key[0][0]), N(18, struct toec_listener, fo.key[0][1]),
    N(19, struct toec_listener, fo.key[1][0]), N(20, struct toec_listener, fo.key[1][1]),
    N(21, struct toec_listener, defer),        N(22, struct toec_listener, reuse),
};
const struct toec_table toec_t_listener = TABLE(listener_rows);

static const struct toec_field flow_rows[] = {
    B(1, struct toec_tcb, remote),
    B(2, struct toec_tcb, local),
    N(3, struct toec_tcb, remote_port),
    N(4, struct toec_tcb, local_port),
    N(5, struct toec_tcb, flags),
    N(6, struct toec_tcb, state),
    N(7, struct toec_tcb, scales),
    N(8, struct toec_tcb, rx_log),
    N(9, struct toec_tcb, tx_log),
    N(10, struct toec_tcb, delack),
    N(11, struct toec_tcb, rcv_nxt),
    N(12, struct toec_tcb, rcv_adv),
    N(13, struct toec_tcb, rcv_read),
    N(14, struct toec_tcb, rcv_acked),
    N(15, struct toec_tcb, irs),
    N(16, struct toec_tcb, ts_recent),
    N(17, struct toec_tcb, iss),
    N(18, struct toec_tcb, snd_una),
    N(19, struct toec_tcb, snd_nxt),
    N(20, struct toec_tcb, snd_max),
    N(21, struct toec_tcb, snd_end),
    N(22, struct toec_tcb, snd_wnd),
    N(23, struct toec_tcb, snd_wl1),
    N(24, struct toec_tcb, cwnd),
    N(25, struct toec_tcb, mss),
    N(26, struct toec_tcb, delack_at),
    N(27, struct toec_tcb, rto),
    N(28, struct toec_tcb, dupacks),
    N(29, struct toec_tcb, backoff),
    N(30, struct toec_tcb, rtt_seq),
    N(31, struct toec_tcb, ts_off),
    N(32, struct toec_tcb, timer_due),
    N(33, struct toec_tcb, rtx_at),
    N(34, struct toec_tcb, rcv_at),
    N(35, struct toec_tcb, rtt_start),
    N(36, struct toec_tcb, srtt),
    N(37, struct toec_tcb, rttvar),
    N(38, struct toec_tcb, min_rtt),
    N(39, struct toec_tcb, snd_sml),
    N(40, struct toec_tcb, max_wnd),
    N(41, struct toec_tcb, probe_set),
    N(42, struct toec_tcb, probe_owed),
    N(43, struct toec_tcb, rexmits),
    N(44, struct toec_tcb, quick),
    N(45, struct toec_tcb, reason),
    N(46, struct toec_tcb, ecn.tos),
    N(47, struct toec_tcb, rare),
    N(48, struct toec_tcb, ecn.cut_end),
    N(49, struct toec_tcb, ecn.flags),
    N(50, struct toec_tcb, ecn.policy),
    N(51, struct toec_tcb, ecn.echo),
    N(52, struct toec_tcb, fo.flags),
    N(53, struct toec_tcb, fo.syn_retries),
    N(54, struct toec_tcb, fo.syn_len),
    N(55, struct toec_tcb, fo.listener),
    N(56, struct toec_tcb, fo.serial),
    N(57, struct toec_tcb, uto.adv),
    N(58, struct toec_tcb, uto.shut_at),
    N(59, struct toec_tcb, uto.remote),
    N(60, struct toec_tcb, uto.shut),
    N(61, struct toec_tcb, uto.owed),
    N(62, struct toec_tcb, rack.reordering),
    N(63, struct toec_tcb, rack.reo_more),
    N(64, struct toec_tcb, rack.reo_persist),
    N(65, struct toec_tcb, rack.reo_set),
    N(66, struct toec_tcb, rack.reordered),
    N(67, struct toec_tcb, rack.began),
    N(68, struct toec_tcb, rack.rto_at),
    N(69, struct toec_tcb, rack.sacked),
    N(70, struct toec_tcb, rack.lost),
    N(71, struct toec_tcb, cc.ssthresh),
    N(72, struct toec_tcb, cc.sampling),
    N(73, struct toec_tcb, cc.hs_phase),
    N(74, struct toec_tcb, cc.hs_samples),
    N(75, struct toec_tcb, cc.hs_count),
    N(76, struct toec_tcb, path.mtu),
    N(77, struct toec_tcb, pm.gen),
    N(78, struct toec_tcb, pm.mtu),
    N(79, struct toec_tcb, pm.peer_mss),
    N(80, struct toec_tcb, pm.user_mss),
    N(81, struct toec_tcb, pm.discover),
    N(82, struct toec_tcb, pm.no_df),
    N(83, struct toec_tcb, pm.carried),
    N(84, struct toec_tcb, pm.claim),
    N(85, struct toec_tcb, pm.claim_seq),
    N(86, struct toec_tcb, pm.watch_end),
    N(87, struct toec_tcb, pm.watch_size),
    N(88, struct toec_tcb, pm.claim_no_df),
    N(89, struct toec_tcb, pm.old_set),
    N(90, struct toec_tcb, pm.old_end),
    N(91, struct toec_tcb, pm.low),
    N(92, struct toec_tcb, pm.high),
    N(93, struct toec_tcb, pm.probe),
    N(94, struct toec_tcb, pm.probe_start),
    N(95, struct toec_tcb, pm.probe_end),
    N(96, struct toec_tcb, pm.search_at),
    N(97, struct toec_tcb, recover),
    N(98, struct toec_tcb, keep_cnt),
    N(99, struct toec_tcb, keep_probes),
    N(100, struct toec_tcb, challenges),
    N(101, struct toec_tcb, keep_idle),
    N(102, struct toec_tcb, keep_intvl),
    N(103, struct toec_tcb, linger2),
    N(104, struct toec_tcb, dsack.start),
    N(105, struct toec_tcb, dsack.end),
    N(106, struct toec_tcb, rcv_fin),
    N(107, struct toec_tcb, keep_at),
    N(108, struct toec_tcb, cork_at),
    N(109, struct toec_tcb, user_timeout),
    N(110, struct toec_tcb, stalled_at),
    N(111, struct toec_tcb, challenge_at),
    N(112, struct toec_tcb, urg.snd_up),
    N(113, struct toec_tcb, urg.rcv_up),
    N(114, struct toec_tcb, tally.rtx_bytes),
    N(115, struct toec_tcb, tally.rtx_total),
    N(116, struct toec_tcb, tally.lost_total),
    N(117, struct toec_tcb, tally.dsacks),
    N(118, struct toec_tcb, tally.undone),
    N(119, struct toec_tcb, tally.reorderings),
    N(120, struct toec_tcb, tally.rtx_dsacks),
    N(121, struct toec_tcb, tally.retransmits),
    N(122, struct toec_tcb, tally.dup_acks),
    N(123, struct toec_tcb, tx_wraps),
    N(124, struct toec_tcb, rx_wraps),
    N(125, struct toec_tcb, pm.reuse),
};
const struct toec_table toec_t_flow = TABLE(flow_rows);

static const struct toec_field cwv_rows[] = {
    N(1, struct toec_cwv, max[0]),     N(2, struct toec_cwv, max[1]),
    N(3, struct toec_cwv, half_at),    N(4, struct toec_cwv, sample_at),
    N(5, struct toec_cwv, sample_una), N(6, struct toec_cwv, nv_since),
    N(7, struct toec_cwv, idle_since), N(8, struct toec_cwv, sampled),
    N(9, struct toec_cwv, nv),         N(10, struct toec_cwv, nv_loss),
    N(11, struct toec_cwv, restarted),
};
const struct toec_table toec_t_cwv = TABLE(cwv_rows);

static const struct toec_field newreno_rows[] = {
    N(1, struct toec_cc_newreno, credit),        N(2, struct toec_cc_newreno, hs.last_min),
    N(3, struct toec_cc_newreno, hs.now_min),    N(4, struct toec_cc_newreno, hs.base),
    N(5, struct toec_cc_newreno, hs.window_end),
};
const struct toec_table toec_t_newreno = TABLE(newreno_rows);

static const struct toec_field cubic_rows[] = {
    N(1, struct toec_cc_cubic, w_max),
    N(2, struct toec_cc_cubic, cwnd_prior),
    N(3, struct toec_cc_cubic, credit),
    N(4, struct toec_cc_cubic, est_credit),
    N(5, struct toec_cc_cubic, seen_at),
    N(6, struct toec_cc_cubic, epoch_set),
    N(7, struct toec_cc_cubic, after_rto),
    N(8, struct toec_cc_cubic, now.hs.last_min),
    N(9, struct toec_cc_cubic, now.hs.now_min),
    N(10, struct toec_cc_cubic, now.hs.base),
    N(11, struct toec_cc_cubic, now.hs.window_end),
};
const struct toec_table toec_t_cubic = TABLE(cubic_rows);

static const struct toec_field dctcp_rows[] = {
    N(1, struct toec_cc_dctcp, alpha),         N(2, struct toec_cc_dctcp, window_end),
    N(3, struct toec_cc_dctcp, acked),         N(4, struct toec_cc_dctcp, marked),
    N(5, struct toec_cc_dctcp, credit),        N(6, struct toec_cc_dctcp, hs.last_min),
    N(7, struct toec_cc_dctcp, hs.now_min),    N(8, struct toec_cc_dctcp, hs.base),
    N(9, struct toec_cc_dctcp, hs.window_end),
};
const struct toec_table toec_t_dctcp = TABLE(dctcp_rows);

static const struct toec_field bbr_rows[] = {
    N(1, struct toec_cc_bbr, bw),
    N(2, struct toec_cc_bbr, max_bw[0]),
    N(3, struct toec_cc_bbr, max_bw[1]),
    N(4, struct toec_cc_bbr, bw_latest),
    N(5, struct toec_cc_bbr, bw_shortterm),
    N(6, struct toec_cc_bbr, undo_bw_shortterm),
    N(7, struct toec_cc_bbr, full_bw),
    N(8, struct toec_cc_bbr, min_rtt),
    N(9, struct toec_cc_bbr, min_rtt_stamp),
    N(10, struct toec_cc_bbr, probe_rtt_min_delay),
    N(11, struct toec_cc_bbr, probe_rtt_min_stamp),
    N(12, struct toec_cc_bbr, probe_rtt_done_stamp),
    N(13, struct toec_cc_bbr, next_round_delivered),
    N(14, struct toec_cc_bbr, loss_round_delivered),
    N(15, struct toec_cc_bbr, round_count),
    N(16, struct toec_cc_bbr, rounds_since_probe_up),
    N(17, struct toec_cc_bbr, drain_start_round),
    N(18, struct toec_cc_bbr, cycle_stamp),
    N(19, struct toec_cc_bbr, bw_probe_wait),
    N(20, struct toec_cc_bbr, inflight_longterm),
    N(21, struct toec_cc_bbr, inflight_shortterm),
    N(22, struct toec_cc_bbr, inflight_latest),
    N(23, struct toec_cc_bbr, undo_inflight_longterm),
    N(24, struct toec_cc_bbr, undo_inflight_shortterm),
    N(25, struct toec_cc_bbr, prior_cwnd),
    N(26, struct toec_cc_bbr, bw_probe_up_acked),
    N(27, struct toec_cc_bbr, probe_up_acked_per_inc),
    N(28, struct toec_cc_bbr, extra_acked_start),
    N(29, struct toec_cc_bbr, extra_acked_delivered),
    N(30, struct toec_cc_bbr, extra_acked_round),
    N(31, struct toec_cc_bbr, extra_acked[0]),
    N(32, struct toec_cc_bbr, extra_acked[1]),
    N(33, struct toec_cc_bbr, random),
    N(34, struct toec_cc_bbr, pacing_gain),
    N(35, struct toec_cc_bbr, cwnd_gain),
    N(36, struct toec_cc_bbr, state),
    N(37, struct toec_cc_bbr, undo_state),
    N(38, struct toec_cc_bbr, ack_phase),
    N(39, struct toec_cc_bbr, full_bw_count),
    N(40, struct toec_cc_bbr, loss_events),
    N(41, struct toec_cc_bbr, bw_probe_up_rounds),
    N(42, struct toec_cc_bbr, full_bw_now),
    N(43, struct toec_cc_bbr, full_bw_reached),
    N(44, struct toec_cc_bbr, round_start),
    N(45, struct toec_cc_bbr, loss_round_start),
    N(46, struct toec_cc_bbr, is_loss_in_round),
    N(47, struct toec_cc_bbr, is_bw_probe_sample),
    N(48, struct toec_cc_bbr, prev_probe_too_high),
    N(49, struct toec_cc_bbr, prev_probe_precautionary),
    N(50, struct toec_cc_bbr, probe_rtt_expired),
    N(51, struct toec_cc_bbr, probe_rtt_done_set),
    N(52, struct toec_cc_bbr, probe_rtt_round_done),
    N(53, struct toec_cc_bbr, idle_restart),
};
const struct toec_table toec_t_bbr = TABLE(bbr_rows);

static const struct toec_field bbr1_rows[] = {
    N(1, struct toec_cc_bbr1, best[0].bw),
    N(2, struct toec_cc_bbr1, best[0].round),
    N(3, struct toec_cc_bbr1, best[1].bw),
    N(4, struct toec_cc_bbr1, best[1].round),
    N(5, struct toec_cc_bbr1, best[2].bw),
    N(6, struct toec_cc_bbr1, best[2].round),
    N(7, struct toec_cc_bbr1, full_bw),
    N(8, struct toec_cc_bbr1, lt_bw),
    N(9, struct toec_cc_bbr1, min_rtt),
    N(10, struct toec_cc_bbr1, min_rtt_stamp),
    N(11, struct toec_cc_bbr1, probe_rtt_done_stamp),
    N(12, struct toec_cc_bbr1, next_round_delivered),
    N(13, struct toec_cc_bbr1, round_count),
    N(14, struct toec_cc_bbr1, cycle_stamp),
    N(15, struct toec_cc_bbr1, prior_cwnd),
    N(16, struct toec_cc_bbr1, extra_acked[0]),
    N(17, struct toec_cc_bbr1, extra_acked[1]),
    N(18, struct toec_cc_bbr1, extra_acked_start),
    N(19, struct toec_cc_bbr1, extra_acked_delivered),
    N(20, struct toec_cc_bbr1, lt_stamp),
    N(21, struct toec_cc_bbr1, lt_delivered),
    N(22, struct toec_cc_bbr1, lt_lost),
    N(23, struct toec_cc_bbr1, random),
    N(24, struct toec_cc_bbr1, state),
    N(25, struct toec_cc_bbr1, cycle),
    N(26, struct toec_cc_bbr1, full_bw_count),
    N(27, struct toec_cc_bbr1, full_bw_reached),
    N(28, struct toec_cc_bbr1, round_start),
    N(29, struct toec_cc_bbr1, recovering),
    N(30, struct toec_cc_bbr1, conserving),
    N(31, struct toec_cc_bbr1, probe_rtt_done_set),
    N(32, struct toec_cc_bbr1, probe_rtt_round_done),
    N(33, struct toec_cc_bbr1, idle_restart),
    N(34, struct toec_cc_bbr1, extra_acked_rounds),
    N(35, struct toec_cc_bbr1, extra_acked_now),
    N(36, struct toec_cc_bbr1, lt_sampling),
    N(37, struct toec_cc_bbr1, lt_used),
    N(38, struct toec_cc_bbr1, lt_rounds),
    N(39, struct toec_cc_bbr1, rtt_seen),
    N(40, struct toec_cc_bbr1, startup_lost),
};
const struct toec_table toec_t_bbr1 = TABLE(bbr1_rows);

static const struct toec_field rate_rows[] = {
    N(1, struct toec_tcp_rate, delivered),      N(2, struct toec_tcp_rate, delivered_at),
    N(3, struct toec_tcp_rate, first_sent),     N(4, struct toec_tcp_rate, lost),
    N(5, struct toec_tcp_rate, app_limited),    N(6, struct toec_tcp_rate, prior_at),
    N(7, struct toec_tcp_rate, newest_sent),    N(8, struct toec_tcp_rate, bw),
    N(9, struct toec_tcp_rate, bw_app_limited), N(10, struct toec_tcp_rate, rs.delivered),
    N(11, struct toec_tcp_rate, rs.interval),   N(12, struct toec_tcp_rate, rs.prior_delivered),
    N(13, struct toec_tcp_rate, rs.lost),       N(14, struct toec_tcp_rate, rs.in_flight),
    N(15, struct toec_tcp_rate, rs.rtt),        N(16, struct toec_tcp_rate, rs.newly_acked),
    N(17, struct toec_tcp_rate, rs.newly_lost), N(18, struct toec_tcp_rate, rs.app_limited),
    N(19, struct toec_tcp_rate, rs.valid),
};
const struct toec_table toec_t_rate = TABLE(rate_rows);

static const struct toec_field pace_rows[] = {
    N(1, struct toec_pace, rate),    N(2, struct toec_pace, max),     N(3, struct toec_pace, next),
    N(4, struct toec_pace, began),   N(5, struct toec_pace, quantum), N(6, struct toec_pace, left),
    N(7, struct toec_pace, waiting),
};
const struct toec_table toec_t_pace = TABLE(pace_rows);

static const struct toec_field episode_rows[] = {
    N(1, struct toec_episode, rtx_began),
    N(2, struct toec_episode, rtx_end),
    N(3, struct toec_episode, xmit_ts),
    N(4, struct toec_episode, end_seq),
    N(5, struct toec_episode, rtt),
    N(6, struct toec_episode, fack),
    N(7, struct toec_episode, dsack_round),
    N(8, struct toec_episode, reo_at),
    N(9, struct toec_episode, reduced),
    N(10, struct toec_episode, tlp_end),
    N(11, struct toec_episode, tlp_flight),
    N(12, struct toec_episode, rescue_end),
    N(13, struct toec_episode, prr_delivered),
    N(14, struct toec_episode, prr_out),
    N(15, struct toec_episode, prr_flight),
    N(16, struct toec_episode, seen_at),
    N(17, struct toec_episode, nv_volume),
    N(18, struct toec_episode, nv_resends),
    N(19, struct toec_episode, undo.una),
    N(20, struct toec_episode, undo.end),
    N(21, struct toec_episode, undo.stamp),
    N(22, struct toec_episode, undo.rtx),
    N(23, struct toec_episode, undo.on),
    N(24, struct toec_episode, undo.stamped),
    N(25, struct toec_episode, undo.eifel),
    N(26, struct toec_episode, undo.rto),
    N(27, struct toec_episode, prior_cwnd),
    N(28, struct toec_episode, prior_ssthresh),
    N(29, struct toec_episode, cubic.w_max),
    N(30, struct toec_episode, cubic.cwnd_prior),
    N(31, struct toec_episode, cubic.e.w_est),
    N(32, struct toec_episode, cubic.e.k),
    N(33, struct toec_episode, cubic.e.epoch),
    N(34, struct toec_episode, epoch_set),
    N(35, struct toec_episode, dsack_set),
    N(36, struct toec_episode, tlp_rtx),
    N(37, struct toec_episode, rescued),
    N(38, struct toec_episode, partial),
    N(39, struct toec_episode, frto),
};
const struct toec_table toec_t_episode = TABLE(episode_rows);

static const struct toec_field run_rows[] = {
    N(1, struct toec_run, end),
    N(2, struct toec_run, sent),
    N(3, struct toec_run, marks),
    N(4, struct toec_run, rate.delivered),
    N(5, struct toec_run, rate.delivered_at),
    N(6, struct toec_run, rate.first_sent),
    N(7, struct toec_run, rate.lost),
    N(8, struct toec_run, rate.in_flight),
};
const struct toec_table toec_t_run = TABLE(run_rows);

static const struct toec_field gap_rows[] = {
    N(1, struct toec_iv, start),
    N(2, struct toec_iv, end),
};
const struct toec_table toec_t_gap = TABLE(gap_rows);

static const struct toec_field peer_rows[] = {
    B(1, struct toec_tfo_peer, addr),    B(2, struct toec_tfo_peer, cookie),
    N(3, struct toec_tfo_peer, len),     N(4, struct toec_tfo_peer, losses),
    N(5, struct toec_tfo_peer, mss),     N(6, struct toec_tfo_peer, lost_at),
    N(7, struct toec_tfo_peer, used),    N(8, struct toec_tfo_peer, exp),
    N(9, struct toec_tfo_peer, try_exp),
};
const struct toec_table toec_t_peer = TABLE(peer_rows);

static const struct toec_field waiting_rows[] = {
    B(1, struct toec_waiting, dst),
    N(2, struct toec_waiting, len),
    N(3, struct toec_waiting, path.hlen),
};
const struct toec_table toec_t_waiting = TABLE(waiting_rows);

static const struct toec_field tw_rows[] = {
    B(1, struct toec_tw, remote),      B(2, struct toec_tw, local),
    N(3, struct toec_tw, remote_port), N(4, struct toec_tw, local_port),
    N(5, struct toec_tw, snd_nxt),     N(6, struct toec_tw, rcv_nxt),
    N(7, struct toec_tw, ts_recent),   N(8, struct toec_tw, ts_off),
    N(9, struct toec_tw, since),       N(10, struct toec_tw, acked_at),
    N(11, struct toec_tw, wnd),        N(12, struct toec_tw, has_ts),
    N(13, struct toec_tw, reuse),
};
const struct toec_table toec_t_tw = TABLE(tw_rows);

static const struct toec_field ao_rows[] = {
    N(1, struct toec_ao, snd.seq),       N(2, struct toec_ao, snd.sne),
    N(3, struct toec_ao, rcv.seq),       N(4, struct toec_ao, rcv.sne),
    N(5, struct toec_ao, ready),         N(6, struct toec_ao, accept_icmp),
    N(7, struct toec_ao, good),          N(8, struct toec_ao, bad),
    N(9, struct toec_ao, no_key),        N(10, struct toec_ao, missing),
    N(11, struct toec_ao, icmp_ignored),
};
const struct toec_table toec_t_ao = TABLE(ao_rows);

static const struct toec_field ao_key_rows[] = {
    B(1, struct toec_ao_key, remote),  N(2, struct toec_ao_key, remote_port),
    N(3, struct toec_ao_key, prefix),  N(4, struct toec_ao_key, send_id),
    N(5, struct toec_ao_key, recv_id), N(6, struct toec_ao_key, no_options),
    N(7, struct toec_ao_key, alg),     N(8, struct toec_ao_key, len),
    B(9, struct toec_ao_key, secret),  B(10, struct toec_ao_key, tx),
    B(11, struct toec_ao_key, rx),
};
const struct toec_table toec_t_ao_key = TABLE(ao_key_rows);
