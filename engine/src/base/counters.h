/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - what the engine counts, by name. Every drop and every refusal has one; the tools
 * read the names from here by way of the statistics (control.c), next to those of core/.
 */
#ifndef ENGINE_COUNTERS_H
#define ENGINE_COUNTERS_H

#define ENGINE_COUNTERS(X)                                                                         \
    X(cmd_bad_type)   /* command type or flag that does not exist */                               \
    X(cmd_bad_flow)   /* slot out of range, or no flow of this queue pair */                       \
    X(cmd_bad_length) /* SEND or RECV of more than there is */                                     \
    X(cmd_bad_state)  /* the flow's state does not permit it */                                    \
    X(cmd_bad_value)  /* a field outside its range, option or address unknown */                   \
    X(cmd_refused)    /* sound, but the stack could not: address in use, no room, ... */           \
    X(cmd_crossed)    /* crossed the flow's final CLOSE_EVENT on its way; ignored */               \
    X(connect_failed) /* CONNECTs answered with CONNECT_FAILED */                                  \
    X(qp_halted)      /* queue pairs halted for a broken ring */                                   \
    X(qp_attached)                                                                                 \
    X(qp_detached)                                                                                 \
    X(flows_moved)      /* connections that another listener got, its own not having accepted */   \
    X(orphan_closed)    /* flows closed because their owner went away */                           \
    X(orphan_aborted)   /* flows reset because their owner went away */                            \
    X(no_slot)          /* SYNs dropped: no free slot in any member */                             \
    X(backlog_full)     /* SYNs dropped: backlog of every member full */                           \
    X(hw_ring_full)     /* times notifications waited for room in a HW ring */                     \
    X(interrupts)       /* eventfd writes to hosts */                                              \
    X(interrupt_failed) /* ... that did not succeed */                                             \
    X(manager_commands) /* entries of the common ring that the polling manager handed out */       \
    X(manager_wakes)    /* its eventfd writes to hosts */                                          \
    X(manager_full)     /* times notifications waited for room in the common ring */               \
    X(tx_no_room)       /* transmit asked when the back end had no buffer */                       \
    X(tx_too_big)       /* frame larger than the back end's buffers; dropped */                    \
    X(tx_tso)           /* frames of several segments handed to the back end as they are */        \
    X(gso_cut)          /* frames made by cutting such in software */                              \
    X(gso_held)         /* times their rest waited for room in the back end */                     \
    X(tx_sg)            /* frames of one segment whose payload was handed over where it lies */    \
    X(tx_gathered)      /* frames whose payload lay in too many places, copied into one */         \
    X(looped)           /* frames to an own address, handed back */                                \
    X(csum_left)        /* frames whose checksum was left to the back end */                       \
    X(rx_large)         /* frames of several segments that came from the back end */               \
    X(rx_held)          /* frames held, their payload read where it is */                          \
    X(hold_small)       /* payload copied: less than is worth holding, */                          \
    X(hold_disorder)    /* ... out of order, */                                                    \
    X(hold_full)        /* ... the back end can spare no more frames, or not this one, */          \
    X(hold_unfit)       /* ... reassembled, handed over, or of a flow not yet told to its host */  \
    X(hold_gathered) /* frames held that were copied after all: somebody looks at many at once */  \
    X(gro_merged)    /* segments joined to one before them in software */                          \
    X(handover_sent) /* frames given to the engine they are home to */                             \
    X(handover_received)                                                                           \
    X(handover_full)      /* frames dropped: that engine's ring was full */                        \
    X(port_refused)       /* LISTEN or CONNECT refused: another user's, or the kernel's */         \
    X(fragment_unsteered) /* TCP fragments dropped: no engine is known for them */                 \
    X(commands_paced)     /* times a queue pair's commands waited for its user's rate */           \
    X(sleeps)             /* times the engine slept */                                             \
    X(hosts_ordered)      /* times it fenced for its hosts before that */

enum engine_counter {
#define X(name) EC_##name,
    ENGINE_COUNTERS(X)
#undef X
        EC_MAX
};

#endif
