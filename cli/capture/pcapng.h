/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng.h - writes a capture file in pcapng format (draft-ietf-opsawg-pcapng), in the byte order
 * of the machine, with Ethernet frames and times in nanoseconds. Order of calls: the section, its
 * interfaces, packets, and at the end the statistics of each interface.
 *
 * All functions return 0, or -1 with errno: the file cannot be written.
 */
#ifndef TOE_CLI_CAPTURE_PCAPNG_H
#define TOE_CLI_CAPTURE_PCAPNG_H

#include <stdint.h>
#include <stdio.h>

#define PCAPNG_IN  1u /* direction: of epb_flags */
#define PCAPNG_OUT 2u

struct pcapng_interface {
    const char *name, *description, *filter; /* NULL: none */
    uint32_t snaplen;
    const uint8_t *mac; /* 6 bytes */
};

struct pcapng_packet {
    uint32_t interface; /* counted from 0 */
    uint64_t time_ns;   /* since 1970 */
    const uint8_t *data;
    uint32_t cap, len;   /* bytes at data, and of the frame */
    uint32_t flags;      /* PCAPNG_IN, PCAPNG_OUT; 0: not known */
    const char *comment; /* NULL: none */
};

struct pcapng_statistics {
    uint32_t interface;
    uint64_t start_ns, end_ns;
    uint64_t received; /* isb_ifrecv: frames of the interface while the capture ran */
    uint64_t dropped;  /* isb_ifdrop: those lost for lack of room */
    uint64_t accepted; /* isb_filteraccept: those that the filter has passed */
};

/* Writes the section header. program: shb_userappl. */
int pcapng_section(FILE *f, const char *program);
int pcapng_interface(FILE *f, const struct pcapng_interface *i);
int pcapng_packet(FILE *f, const struct pcapng_packet *p);
int pcapng_statistics(FILE *f, const struct pcapng_statistics *s);

#endif
