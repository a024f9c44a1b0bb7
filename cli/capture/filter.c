/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - see filter.h. */
#include <stdio.h>
#include <stdlib.h>

#include <pcap/pcap.h>
#include <toe/capture.h>

#include "filter.h"

#define NS_PER_S 1000000000u

struct packet_filter {
    struct bpf_program program;
};

struct packet_filter *packet_filter_new(const char *text, char *why, size_t why_size)
{
    struct packet_filter *f = calloc(1, sizeof *f);
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, TOECAP_SNAPLEN_MAX);

    if (!f || !pcap)
        snprintf(why, why_size, "no memory");
    else if (pcap_compile(pcap, &f->program, text, 1, PCAP_NETMASK_UNKNOWN) != 0)
        snprintf(why, why_size, "%s", pcap_geterr(pcap));
    else {
        pcap_close(pcap);
        return f;
    }
    if (pcap)
        pcap_close(pcap);
    free(f);
    return NULL;
}

bool packet_filter_passes(const struct packet_filter *f, const uint8_t *data, uint32_t cap,
                          uint32_t len, uint64_t time_ns)
{
    struct pcap_pkthdr h = {.caplen = cap, .len = len};

    h.ts.tv_sec = (time_t)(time_ns / NS_PER_S);
    h.ts.tv_usec = (suseconds_t)(time_ns % NS_PER_S / 1000);
    return pcap_offline_filter(&f->program, &h, data) != 0;
}

void packet_filter_free(struct packet_filter *f)
{
    if (!f)
        return;
    pcap_freecode(&f->program);
    free(f);
}
