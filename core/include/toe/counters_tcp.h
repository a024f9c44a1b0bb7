/* SPDX-License-Identifier: Apache-2.0 */
/* counters_tcp.h - the counters of TCP; see counters.h. */
#ifndef TOE_COUNTERS_TCP_H
#define TOE_COUNTERS_TCP_H

#define TOEC_COUNTERS_TCP(X) X(tcp_rx, "TCP segments received")

#endif
