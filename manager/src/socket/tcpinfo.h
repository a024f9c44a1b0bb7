/* SPDX-License-Identifier: Apache-2.0 */
/* tcpinfo.h - TCP_INFO (tcpinfo.c). Lock held. */
#ifndef LIBTOE_TCPINFO_H
#define LIBTOE_TCPINFO_H

#include <linux/tcp.h>

#include "tsock.h"

/* Fills TCP_INFO (tcp(7)) from the flow record, without a command to the TOE. */
TOE_HIDDEN void tsock_tcp_info(const struct tsock *s, struct tcp_info *out);

#endif
