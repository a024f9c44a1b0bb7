/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - the engine's counters: X(name, description). Every drop and every refusal has a
 * counter. The statistics (stats.c) report names and descriptions, next to those of core/.
 */
#ifndef ENGINE_COUNTERS_H
#define ENGINE_COUNTERS_H

#define ENGINE_COUNTERS(X)                                                                         \
    X(cmd_bad_type, "unknown command type or flag")                                                \
    X(cmd_bad_flow, "slot out of range, or no flow of this queue pair")                            \
    X(cmd_bad_length, "SEND or RECV of more than available")                                       \
    X(cmd_bad_state, "the flow's state does not permit it")                                        \
    X(cmd_bad_value, "a field outside its range, option or address unknown")                       \
    X(cmd_refused, "valid, but the stack refused: address in use, no room, ...")                   \
    X(cmd_crossed, "crossed the flow's final CLOSE_EVENT in transit; ignored")                     \
    X(connect_failed, "CONNECTs answered with CONNECT_FAILED")                                     \
    X(qp_halted, "queue pairs halted for a broken ring")                                           \
    X(qp_attached, "queue pairs attached")                                                         \
    X(qp_detached, "queue pairs detached")                                                         \
    X(flows_moved, "connections moved to another listener before they were accepted")              \
    X(orphan_closed, "flows closed because their owner detached or died")                          \
    X(orphan_aborted, "flows reset because their owner detached or died")                          \
    X(stranded, "connections reset because the process that should accept them cannot")            \
    X(no_slot, "SYNs dropped: no free slot in any member")                                         \
    X(backlog_full, "SYNs dropped: backlog of every member full")                                  \
    X(hw_ring_full, "times notifications waited for room in a HW ring")                            \
    X(interrupts, "eventfd writes to hosts")                                                       \
    X(interrupt_failed, "eventfd writes to hosts that failed")                                     \
    X(manager_commands, "common-ring entries that the polling manager handed out")                 \
    X(manager_wakes, "the manager's eventfd writes to hosts")                                      \
    X(manager_full, "times notifications waited for room in the common ring")                      \
    X(tx_no_room, "transmissions put off: the back end had no buffer")                             \
    X(tx_too_big, "frame larger than the back end's buffers; dropped")                             \
    X(tx_tso, "frames of several segments handed to the back end uncut (TSO)")                     \
    X(gso_cut, "frames made by cutting them in software (GSO)")                                    \
    X(gso_held, "times the rest of a cut frame waited for room in the back end")                   \
    X(tx_sg, "frames of one segment whose payload was sent by reference")                          \
    X(tx_gathered, "frames whose payload was in too many parts and was gathered")                  \
    X(looped, "frames to one of the stack's own addresses, looped back")                           \
    X(csum_left, "frames whose checksum was left to the back end")                                 \
    X(vlan_other, "frames dropped: of another VLAN, or of any without --vlan")                     \
    X(vlan_untagged, "frames dropped: without the tag of --vlan")                                  \
    X(vlan_stacked, "frames dropped: tagged more than once, or by a provider (QinQ)")              \
    X(vlan_priority, "priority tags (VLAN ID 0) removed")                                          \
    X(rx_large, "frames of several segments received from the back end (LRO)")                     \
    X(rx_held, "frames held; the host reads their payload in place")                               \
    X(hold_small, "payload copied: too small to hold")                                             \
    X(hold_disorder, "payload copied: out of order")                                               \
    X(hold_full, "payload copied: the back end cannot spare more frames, or not this one")         \
    X(hold_unfit, "payload copied: reassembled, handed over, or of a flow not yet announced")      \
    X(hold_gathered, "held frames copied after all: a read spans several frames")                  \
    X(gro_merged, "segments joined to a preceding one in software")                                \
    X(handover_sent, "frames handed over to their home engine")                                    \
    X(handover_received, "frames received from another engine")                                    \
    X(handover_full, "frames dropped: the home engine's ring was full")                            \
    X(port_refused, "LISTEN or CONNECT refused: the port is another user's or the kernel's")       \
    X(fragment_unsteered, "TCP fragments dropped: their home engine is unknown")                   \
    X(commands_paced, "times a queue pair's commands waited for its user's rate")                  \
    X(cpu_ns, "CPU time of the engine's thread, of this process; 0 within a program's threads")    \
    X(polling_ns, "time of polls that found no work")                                              \
    X(trace_none, "flows without events (toehold trace): 32768 others were open")                  \
    X(trace_overwritten, "ended flows whose events (toehold trace) newer flows have overwritten")  \
    X(sleeps, "times the engine slept")                                                            \
    X(moderated_sleeps, "... and frames had to wait (toed --moderation)")                          \
    X(hosts_ordered, "sleeps before which it issued the hosts' fence (host_fence.h)")

enum engine_counter {
#define X(name, description) EC_##name,
    ENGINE_COUNTERS(X)
#undef X
        EC_MAX
};

#endif
