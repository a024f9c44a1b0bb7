/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt.h - what tcpinfo.c gives to sockopt.c. */
#ifndef TOE_SOCKOPT_H
#define TOE_SOCKOPT_H

#include <linux/tcp.h>

#include "libtoe.h"

/* TCP_INFO (tcp(7)) from the flow record, which costs the TOE no command. Lock held. */
TOE_HIDDEN void tsock_tcp_info(const struct tsock *s, struct tcp_info *out);

#endif
