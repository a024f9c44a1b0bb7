/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - builds the probes of `toehold rtt` and parses their answers. */
#ifndef TOE_CLI_WIRE_H
#define TOE_CLI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PROBE_MIN   16u /* payload: magic, run, number */
#define PROBE_MAX   1472u
#define PROBE_MAGIC 0x54525454u /* "TRTT" */
#define SYN_PORTS   64u

/* Identifies the probes of one run. */
struct probe_id {
    uint32_t run;  /* random */
    uint16_t echo; /* ICMP identifier */
    uint32_t isn;  /* SYN: sequence number of probe 0 */
    uint16_t syn_port[SYN_PORTS];
    struct sockaddr_storage local, to;
};

/* Builds, and parses, the payload of probe n (network byte order). */
void wire_payload(const struct probe_id *id, uint64_t n, void *out, size_t size);
bool wire_payload_number(const struct probe_id *id, const void *in, size_t size, uint64_t *n);

/* Builds an ICMP or ICMPv6 echo request; the kernel fills the ICMPv6 checksum. Returns the bytes.
 */
size_t wire_echo(const struct probe_id *id, uint64_t n, void *out, size_t size);
/* Parses an echo reply as a raw socket delivers it (IPv4: with its header). */
bool wire_echo_number(const struct probe_id *id, const uint8_t *in, size_t size, uint64_t *n);

/* Builds the TCP header of a SYN with checksum. Returns the bytes. */
size_t wire_syn(const struct probe_id *id, uint64_t n, void *out);
/* Parses the SYN+ACK or RST+ACK of a SYN; *refused: it was an RST. */
bool wire_syn_number(const struct probe_id *id, const uint8_t *in, size_t size, uint32_t *n,
                     bool *refused);

#endif
