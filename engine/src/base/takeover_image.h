/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_image.h - the state that one toed hands over to another (docs/UPGRADE.md): an image in
 * sections, and descriptors that the image names by their index.
 */
#ifndef ENGINE_TAKEOVER_IMAGE_H
#define ENGINE_TAKEOVER_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <toe/image.h>

enum { SECTION_PROCESS = 1, SECTION_ENGINE, SECTION_CORE };

struct takeover {
    uint8_t *bytes; /* the image, being written or as received */
    size_t n, room;
    int *fds; /* while writing: borrowed; received: owned until taken, then -1 */
    uint32_t fd_count, fd_room;
    int failed; /* no memory */
    size_t section;
};

/* Begins a section of this kind for this engine; takeover_section_end() ends it. */
void takeover_section(struct takeover *t, uint32_t kind, uint32_t engine);
void takeover_section_end(struct takeover *t);
/* Adds a descriptor and returns its index + 1, the value stored in the image; 0 for fd -1. */
uint32_t takeover_fd(struct takeover *t, int fd);
/* Returns the descriptor, which the caller owns from then on; -1: none. */
int takeover_take_fd(struct takeover *t, uint64_t place);
int takeover_put(void *arg, const void *data, toec_u32 n);
/* Returns the section of this kind and engine; NULL: none. */
const uint8_t *takeover_find(const struct takeover *t, uint32_t kind, uint32_t engine, size_t *n);
/* Frees the image. own: also closes the descriptors that were not taken. */
void takeover_free(struct takeover *t, int own);

enum {
    TREC_ENGINE = 0x6501,
    TREC_COUNTER,
    TREC_QP,
    TREC_SLOT, /* of the preceding queue pair */
    TREC_GROUP,
    TREC_MEMBER, /* of the preceding group */
    TREC_HEAD = 0x6601,
    TREC_CLIENT,
    TREC_PORT
};

/* Fields besides those of the tables (takeover_tables.c). */
enum {
    TTAG_AREA = 200,
    TTAG_IRQ,
    TTAG_DOORBELL,
    TTAG_KEPT, /* a listening socket */
    TTAG_NAME,
    TTAG_VALUE,
    TTAG_HELD, /* one bit for each family whose port a listener holds; none: IPv4 */
    TTAG_KEPT6,
    TTAG_ORDERS = 1, /* of an engine */
    TTAG_OFFLOAD,
    TTAG_KEYS = 100,
    TTAG_PID = 1, /* of a client */
    TTAG_UID,
    TTAG_DEADLINE,
    TTAG_QP,
    TTAG_ENGINE,
    TTAG_FD,
    TTAG_PIDFD,
    TTAG_VERSION = 1, /* of the process */
    TTAG_ENGINES,
    TTAG_NEXT_QP,
    TTAG_STARTED,
    TTAG_LISTEN_FD,
    TTAG_LOCK_FD,
    TTAG_HEIR_FD,
    TTAG_ADDRESS_FD,
    TTAG_ADDRESS6_FD
};
#define TAKEOVER_VERSION 1u

#endif
