/* SPDX-License-Identifier: Apache-2.0 */
/* headers.h - the headers of a frame, as far as they are complete: for lines of text and JSON. */
#ifndef TOE_CLI_CAPTURE_HEADERS_H
#define TOE_CLI_CAPTURE_HEADERS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct headers {
    bool has_vlan, has_ip, has_ports, has_tcp, is_fragment;
    uint16_t vlan, ethertype;
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
    uint8_t protocol; /* of IP */
    uint16_t sport, dport;
    /* of TCP */
    uint8_t flags;
    uint32_t seq, ack;
    uint16_t window;
    uint32_t payload; /* bytes behind the header of TCP or UDP, by the IP length */
};

/* Reads the first n bytes of a frame. */
void headers_read(struct headers *h, const uint8_t *frame, uint32_t n);
/* Writes TCP's flags as tcpdump does: "S", "P.", "none". */
void headers_flags(uint8_t flags, char text[12]);

#endif
