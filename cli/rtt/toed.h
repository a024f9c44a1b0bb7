/* SPDX-License-Identifier: Apache-2.0 */
/* toed.h - the source "toed", the TCP connections of a running toed. */
#ifndef TOE_CLI_TOED_H
#define TOE_CLI_TOED_H

#include <stdbool.h>

#include "measure.h"

/* Measures until it is done. Returns false with the reason by rtt_fail(). */
bool toed_run(struct rtt *r);

#endif
