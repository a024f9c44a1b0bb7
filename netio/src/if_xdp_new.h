/* SPDX-License-Identifier: Apache-2.0 */
/*
 * if_xdp_new.h - definitions of linux/if_xdp.h and linux/bpf.h that are newer than the Linux 6.1
 * headers of Debian 12. The running kernel may support them nevertheless: xsock.c probes it.
 */
#ifndef TOE_NETIO_IF_XDP_NEW_H
#define TOE_NETIO_IF_XDP_NEW_H

#include <linux/if_xdp.h>
#include <stddef.h>
#include <stdint.h>

/* Linux 6.6: frames of several descriptors. */
#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4)
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD (1 << 0)
#endif

/* Linux 6.8: metadata before a frame to send. The flag was added later (6.11, and earlier stable
 * releases): without it a kernel without metadata could not be distinguished from one with
 * metadata.
 */
#ifndef XDP_UMEM_TX_METADATA_LEN
#define XDP_UMEM_TX_METADATA_LEN (1 << 2)
#endif
#ifndef XDP_TX_METADATA
#define XDP_TX_METADATA (1 << 1)
#endif
#ifndef XDP_TXMD_FLAGS_CHECKSUM
#define XDP_TXMD_FLAGS_CHECKSUM (1 << 1)
#endif

/* Linux 6.16: frames sent per call in copy mode. */
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9
#endif

/* struct xdp_umem_reg since Linux 6.8; an older kernel ignores the end. */
struct umem_reg {
    uint64_t addr, len;
    uint32_t chunk_size, headroom, flags, tx_metadata_len;
};

/* struct xsk_tx_metadata: the fields of the request that we use. */
struct tx_metadata {
    uint64_t flags;
    uint16_t csum_start, csum_offset;
    uint32_t pad;
    uint64_t launch_time;
};

_Static_assert(sizeof(struct umem_reg) == 32, "the kernel's layout");
_Static_assert(sizeof(struct tx_metadata) == 24 && offsetof(struct tx_metadata, csum_start) == 8,
               "the kernel's layout");

#endif
