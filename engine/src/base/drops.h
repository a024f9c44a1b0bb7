/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drops.h - the engine's counters that count dropped frames: X(counter, words), as in toe/drops.h.
 * Those of the first list are counted while core/ processes the frame; of the others the engine
 * knows the frame itself.
 */
#ifndef ENGINE_DROPS_H
#define ENGINE_DROPS_H

#include <toe/counters.h>
#include <toe/drops.h>

#include "counters.h"

#define ENGINE_DROPS_IN_CORE(X)                                                                    \
    X(no_slot, "SYN: no free slot in any queue pair of the listener")                              \
    X(backlog_full, "SYN: the listener's backlog is full")

#define ENGINE_DROPS(X)                                                                            \
    ENGINE_DROPS_IN_CORE(X)                                                                        \
    X(vlan_other, "of another VLAN, or of any without --vlan")                                     \
    X(vlan_untagged, "without the tag of --vlan")                                                  \
    X(vlan_stacked, "tagged more than once, or by a provider (QinQ)")                              \
    X(handover_full, "the ring of the flow's engine was full")                                     \
    X(fragment_unsteered, "TCP fragment: its engine is unknown")                                   \
    X(tx_too_big, "larger than the back end's buffers")

/* Reasons in the order of precedence: the engine's are more exact than core's. 0: not dropped. */
#define DROP_OF_ENGINE(name, words) DROP_##name,
#define DROP_OF_CORE(name, words)   DROP_CORE_##name,
enum drop_reason { DROP_NONE, ENGINE_DROPS(DROP_OF_ENGINE) TOEC_DROPS(DROP_OF_CORE) DROP_REASONS };
#undef DROP_OF_ENGINE
#undef DROP_OF_CORE

#endif
