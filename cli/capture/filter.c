/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - see filter.h. */
#include <stdio.h>
#include <stdlib.h>

#include <pcap/pcap.h>
#include <toe/capture.h>

#include "filter.h"

#define NS_PER_S      1000000000u
#define KERNEL_FIELDS 0xfffff000u /* SKF_AD_OFF */

struct packet_filter {
    struct bpf_program program;
};

/* Returns whether the program reads what only the kernel knows of a frame (linux/filter.h): libpcap
 * compiles "inbound" to that, and it would match nothing here. */
static bool needs_kernel(const struct bpf_program *p)
{
    unsigned i;

    for (i = 0; i < p->bf_len; i++) {
        const struct bpf_insn *in = &p->bf_insns[i];

        if (BPF_CLASS(in->code) == BPF_LD && BPF_MODE(in->code) == BPF_ABS &&
            in->k >= KERNEL_FIELDS)
            return true;
    }
    return false;
}

struct packet_filter *packet_filter_new(const char *text, char *why, size_t why_size)
{
    struct packet_filter *f = calloc(1, sizeof *f);
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, TOECAP_SNAPLEN_MAX);

    if (!f || !pcap)
        snprintf(why, why_size, "no memory");
    else if (pcap_compile(pcap, &f->program, text, 1, PCAP_NETMASK_UNKNOWN) != 0)
        snprintf(why, why_size, "%s", pcap_geterr(pcap));
    else if (needs_kernel(&f->program)) {
        snprintf(why, why_size, "it needs the kernel; --direction replaces inbound and outbound");
        pcap_freecode(&f->program);
    } else {
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
