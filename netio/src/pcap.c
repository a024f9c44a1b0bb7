/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap.c - frames from and to files.
 *
 * pcap:[in=FILE][,out=FILE][,pace=asked|recorded][,mac=MAC][,mtu=N]
 *
 * Receives the frames of the in file, and writes sent frames to the out file, stamped with the time
 * passed in. pace=asked (default) delivers as fast as netio_rx() is called, pace=recorded with the
 * intervals of the file's stamps, from the first call on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>
#include <toe/number.h>

#include "capture.h"
#include "pool.h"
#include "spec.h"

#define FRAME_SIZE  16384u
#define FRAME_COUNT 512u
#define MTU_MIN     68u /* RFC 791 */
#define MTU_MAX     (FRAME_SIZE - ETH_HEADER)

struct pcap_file {
    struct netio n;
    struct pool pool;
    pcap_t *in;
    struct capture *out;
    int recorded_pace;
    /* The next frame of the in file; memory of libpcap until the one after it is read. */
    const u_char *next;
    struct pcap_pkthdr next_header;
    uint64_t next_ns;  /* its stamp */
    uint64_t first_ns; /* stamp of the first frame */
    uint64_t start_ns; /* time of the first netio_rx() */
    int started;
};

static struct pcap_file *self(struct netio *n)
{
    return (struct pcap_file *)n;
}

/* A broken file ends the replay like the end of the file, but is counted. */
static void read_next(struct pcap_file *f)
{
    struct pcap_pkthdr *header;
    int result = f->in ? pcap_next_ex(f->in, &header, &f->next) : PCAP_ERROR_BREAK;

    if (result != 1) {
        f->next = NULL;
        if (result == PCAP_ERROR)
            f->n.stats.rx_dropped++;
        return;
    }
    f->next_header = *header;
    f->next_ns = (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;
}

static uint64_t pcap_next_event(const struct netio *n)
{
    const struct pcap_file *f = (const struct pcap_file *)n;

    if (!f->next)
        return UINT64_MAX;
    if (!f->recorded_pace || !f->started || f->next_ns < f->first_ns)
        return 0;
    return f->start_ns + (f->next_ns - f->first_ns);
}

static unsigned pcap_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    struct pcap_file *f = self(n);
    unsigned count = 0;
    uint32_t offset;

    if (!f->started) {
        f->started = 1;
        f->start_ns = now_ns;
    }
    while (count < max && pcap_next_event(n) <= now_ns && f->next) {
        uint32_t len = f->next_header.caplen;

        if (len < f->next_header.len || len > FRAME_SIZE) { /* truncated in the file, or too large
                                                             */
            n->stats.rx_dropped++;
            read_next(f);
            continue;
        }
        if (pool_get(&f->pool, &offset))
            break;
        memcpy(f->pool.mem + offset, f->next, len);
        frames[count++] = (struct netio_frame){
            .data = f->pool.mem + offset,
            .len = len,
            .cap = FRAME_SIZE,
            .token = offset,
        };
        n->stats.rx_frames++;
        n->stats.rx_bytes += len;
        read_next(f);
    }
    return count;
}

static void pcap_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        pool_put(&self(n)->pool, (uint32_t)frames[i].token);
}

static int pcap_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct pcap_file *f = self(n);
    uint32_t offset;

    if (pool_get(&f->pool, &offset))
        return -1;
    *frame = (struct netio_frame){
        .data = f->pool.mem + offset,
        .cap = FRAME_SIZE,
        .token = offset,
    };
    return 0;
}

static void pcap_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct pcap_file *f = self(n);

    if (f->out && capture_write(f->out, frame, now_ns)) {
        n->stats.tx_dropped++;
    } else {
        n->stats.tx_frames++;
        n->stats.tx_bytes += frame->len;
    }
    pool_put(&f->pool, (uint32_t)frame->token);
}

static void pcap_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    pool_put(&self(n)->pool, (uint32_t)frame->token);
}

static void pcap_tx_flush(struct netio *n, uint64_t now_ns)
{
    (void)n;
    (void)now_ns;
}

static int pcap_prepare_sleep(struct netio *n)
{
    struct pcap_file *f = self(n);

    if (f->out && capture_flush(f->out))
        n->stats.tx_dropped++;
    return f->next && !f->recorded_pace;
}

static void pcap_file_close(struct netio *n)
{
    struct pcap_file *f = self(n);

    if (f->in)
        pcap_close(f->in);
    if (f->out)
        capture_close(f->out);
    pool_free(&f->pool);
    free(f);
}

static const struct netio_ops ops = {
    .close = pcap_file_close,
    .rx = pcap_rx,
    .rx_release = pcap_rx_release,
    .tx_alloc = pcap_tx_alloc,
    .tx_submit = pcap_tx_submit,
    .tx_cancel = pcap_tx_cancel,
    .tx_flush = pcap_tx_flush,
    .prepare_sleep = pcap_prepare_sleep,
    .next_event = pcap_next_event,
};

static int open_in(struct pcap_file *f, const char *file, const struct netio_err *err)
{
    char reason[PCAP_ERRBUF_SIZE] = "name a file";

    if (*file && strcmp(file, "-") != 0)
        f->in = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
    if (!f->in) {
        netio_err_set(err, "pcap: cannot read in=%s: %s", file, reason);
        return -1;
    }
    if (pcap_datalink(f->in) != DLT_EN10MB) {
        netio_err_set(err, "pcap: in=%s does not hold Ethernet frames (link type %d)", file,
                      pcap_datalink(f->in));
        return -1;
    }
    read_next(f);
    f->first_ns = f->next_ns;
    return 0;
}

static int get_mac(const struct spec *spec, uint8_t mac[6], const struct netio_err *err)
{
    static const uint8_t fallback[6] = {0x02, 0x54, 0x4f, 0x45, 0x00, 0x01};
    const char *text = spec_get(spec, "mac");

    memcpy(mac, fallback, sizeof(fallback));
    if (!text)
        return 0;
    if (!toe_mac(text, mac) || mac[0] & 1) {
        netio_err_set(err,
                      "pcap: mac=%s is not a station's MAC: write six pairs of hexadecimal "
                      "digits as in 02:00:00:00:00:01",
                      text);
        return -1;
    }
    return 0;
}

static int bring_up(struct pcap_file *f, const struct spec *spec, const struct netio_err *err)
{
    const char *in = spec_get(spec, "in");
    const char *out = spec_get(spec, "out");
    unsigned pace;
    uint64_t mtu;

    if (*spec->name || (!in && !out)) {
        netio_err_set(err, "pcap: name a file to read or to write: pcap:in=FILE,out=FILE");
        return -1;
    }
    if (spec_get_choice(spec, "pcap", "pace", "asked recorded", &pace, err) ||
        spec_get_number(spec, "pcap", "mtu", MTU_MIN, MTU_MAX, 1500, &mtu, err) ||
        get_mac(spec, f->n.info.mac, err))
        return -1;
    f->recorded_pace = (int)pace;
    f->n.info.mtu = (uint32_t)mtu;
    f->n.info.queues = 1;
    if (pool_init(&f->pool, FRAME_SIZE, FRAME_COUNT)) {
        netio_err_set(err, "pcap: no memory for %u frames of %u bytes", FRAME_COUNT, FRAME_SIZE);
        return -1;
    }
    if (in && open_in(f, in, err))
        return -1;
    if (out) {
        f->out = capture_open("pcap", out, err);
        if (!f->out)
            return -1;
    }
    snprintf(f->n.mode, sizeof(f->n.mode), "pcap");
    return 0;
}

struct netio *pcap_file_open(const char *args, const struct netio_config *cfg,
                             const struct netio_err *err)
{
    struct spec spec;
    struct pcap_file *f;

    if (spec_parse(&spec, "pcap", args, "in out pace mac mtu", err) ||
        backend_one_queue("pcap", cfg, err))
        return NULL;
    f = lines_calloc(1, sizeof(*f));
    if (!f) {
        netio_err_set(err, "pcap: out of memory");
        return NULL;
    }
    f->n.ops = &ops;
    f->n.fd = -1;
    if (bring_up(f, &spec, err)) {
        pcap_file_close(&f->n);
        return NULL;
    }
    return &f->n;
}
