/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - a flow's record in the status area (record.c). Lock held. */
#ifndef LIBTOE_RECORD_H
#define LIBTOE_RECORD_H

#include "tsock.h"

/* Copies the flow's record (torn reads are retried). False when there is no flow. */
TOE_HIDDEN bool tsock_record(const struct tsock *s, struct toedev_flow_record *out);

#endif
