/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - OPTION commands of flows and listeners (option.c). Lock held. */
#ifndef LIBTOE_OPTION_H
#define LIBTOE_OPTION_H

#include "tsock.h"

/* Sends OPTION for this flow. Does nothing when there is no flow yet. */
TOE_HIDDEN void tsock_option(struct tsock *s, uint16_t option, uint32_t value);
/* Sends an option for a listener's future flows to all queue pairs. Waits for the TOE: the option
 * must apply to a peer that connects after setsockopt(). */
TOE_HIDDEN void tlisten_option(const struct tsock *s, uint16_t option, uint32_t value);
/* Sends the listener's TCP_FASTOPEN, its keys included. */
TOE_HIDDEN void tfast_announce(const struct tsock *s);

/* A pacing rate as OPTION MAX_PACING encodes it. */
static inline uint32_t pacing_value(uint64_t rate)
{
    return rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
}

#endif
