/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - a filter in the language of pcap-filter(7), which libpcap compiles and runs. It runs
 * in this process: no program for it enters the TOE. */
#ifndef TOE_CLI_CAPTURE_FILTER_H
#define TOE_CLI_CAPTURE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet_filter;

/* Compiles a filter; empty: all frames pass. NULL: it is wrong, with the reason in `why`. */
struct packet_filter *packet_filter_new(const char *text, char *why, size_t why_size);
/* Returns whether a frame of len bytes passes, of which `cap` are at data. */
bool packet_filter_passes(const struct packet_filter *f, const uint8_t *data, uint32_t cap,
                          uint32_t len, uint64_t time_ns);
void packet_filter_free(struct packet_filter *f);

#endif
