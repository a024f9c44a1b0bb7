/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - writes frames to a pcap file with nanosecond stamps, by libpcap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture.h"

#define SNAP_LEN 262144 /* as tcpdump: frames of many segments are larger than 65535 */

struct capture {
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    uint8_t *whole; /* a frame with references, in one piece for libpcap */
};

/* Opens the file for writing, emptied. A link could name a file of another user, which must not be
 * emptied by a privileged process. Returns NULL with the reason in why. */
static FILE *open_file(const char *file, const char **why)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0666);
    struct stat st;
    FILE *f = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1) {
        *why = "it has several names (hard links); remove it or name another file";
    } else if (fd < 0 || (S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)) {
        *why = errno == ELOOP ? "it is a symbolic link; name the file itself" : strerror(errno);
    } else {
        f = fdopen(fd, "w");
        *why = strerror(errno);
    }
    if (!f && fd >= 0)
        close(fd);
    return f;
}

struct capture *capture_open(const char *who, const char *file, const struct netio_err *err)
{
    struct capture *c = lines_calloc(1, sizeof(*c));
    const char *why = "name a file";
    FILE *f = NULL;

    if (!c) {
        netio_err_set(err, "%s: out of memory", who);
        return NULL;
    }
    c->pcap =
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAP_LEN, PCAP_TSTAMP_PRECISION_NANO);
    /* libpcap would take "-" for stdout, which is for the program's data. */
    if (c->pcap && *file && strcmp(file, "-") != 0)
        f = open_file(file, &why);
    if (f)
        c->dumper = pcap_dump_fopen(c->pcap, f);
    if (f && !c->dumper) {
        why = pcap_geterr(c->pcap);
        fclose(f);
    }
    if (!c->dumper) {
        netio_err_set(err, "%s: cannot write the file '%s': %s", who, file, why);
        capture_close(c);
        return NULL;
    }
    return c;
}

/* Returns the frame in one piece of *len bytes. */
static const uint8_t *in_one(struct capture *c, const struct netio_frame *f, uint32_t *len)
{
    uint32_t i;

    *len = f->len;
    if (!f->ref_count)
        return f->data;
    if (!c->whole)
        c->whole = lines_calloc(1, BIG_FRAME);
    if (!c->whole || frame_total(f) > BIG_FRAME)
        return f->data; /* without memory for the whole: only its head */
    memcpy(c->whole, f->data, f->len);
    for (i = 0; i < f->ref_count; i++) {
        memcpy(c->whole + *len, f->refs[i].data, f->refs[i].len);
        *len += f->refs[i].len;
    }
    return c->whole;
}

int capture_write(struct capture *c, const struct netio_frame *frame, uint64_t now_ns)
{
    struct pcap_pkthdr header;
    uint32_t len;
    const uint8_t *data = in_one(c, frame, &len);

    memset(&header, 0, sizeof(header));
    header.ts.tv_sec = (time_t)(now_ns / 1000000000u);
    header.ts.tv_usec = (suseconds_t)(now_ns % 1000000000u); /* holds nanoseconds in this file */
    header.caplen = len < SNAP_LEN ? len : SNAP_LEN;
    header.len = frame_total(frame);
    pcap_dump((u_char *)c->dumper, &header, data);
    return ferror(pcap_dump_file(c->dumper)) ? -1 : 0;
}

int capture_flush(struct capture *c)
{
    return pcap_dump_flush(c->dumper);
}

void capture_close(struct capture *c)
{
    if (c->dumper)
        pcap_dump_close(c->dumper);
    if (c->pcap)
        pcap_close(c->pcap);
    free(c->whole);
    free(c);
}
