/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the settings of a process (config.c). */
#ifndef LIBTOE_CONFIG_H
#define LIBTOE_CONFIG_H

#include "libtoe.h"

/* Where the TOE runs. */
enum tplace {
    TPLACE_TOED,   /* a process of its own */
    TPLACE_INLINE, /* within our calls */
    TPLACE_THREAD  /* a thread of this process */
};

/* Settings as resolved by tconfig_resolve(): options, then environment, then defaults. */
struct tconfig {
    enum tplace place;
    char socket[108]; /* path of toed's Unix socket, as sun_path takes it */
    char inline_options[1024];
    uint32_t slots, tx_size, rx_size;
    uint32_t busy_poll_us, irq_count, irq_usec;
    uint32_t zerocopy_min; /* pieces with fewer bytes are copied */
    uint32_t hold_min;     /* received frames with fewer bytes are copied; 0: all are */
    bool busy_poll_given;  /* else an engine in this process uses its own default */
    bool batch;            /* send answers to events of one epoll_wait together (batch.h) */
    bool require;          /* TCP that cannot be carried fails */
    bool io_uring;         /* rings may be created (preload_ring.c) */
    bool report;           /* log every pass to the kernel, also the expected ones */
};

/* Fills cfg. Returns 0, or -1 with a sentence in err that names the value and what to do. */
TOE_HIDDEN int tconfig_resolve(struct tconfig *cfg, const struct toe_options *opt, char *err,
                               size_t err_size);

#endif
