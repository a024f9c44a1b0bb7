/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_image.h - what a toed hands over to another (docs/UPGRADE.md): an image in sections, and
 * the descriptors that it names by their places.
 */
#ifndef ENGINE_TAKEOVER_IMAGE_H
#define ENGINE_TAKEOVER_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <toe/image.h>

enum { SECTION_PROCESS = 1, SECTION_ENGINE, SECTION_CORE };

struct takeover {
    uint8_t *bytes; /* of the image, being made or as received */
    size_t n, room;
    int *fds; /* being made: borrowed; received: owned until they are taken, then -1 */
    uint32_t fd_count, fd_room;
    int failed; /* no memory */
    size_t section;
};

/* The engine's clock when it was stopped. */
void takeover_section(struct takeover *t, uint32_t kind, uint32_t engine);
void takeover_section_end(struct takeover *t);
/* Its place + 1, for an image; 0 for -1. */
uint32_t takeover_fd(struct takeover *t, int fd);
/* The descriptor, which is the caller's from now on; -1: none. */
int takeover_take_fd(struct takeover *t, uint64_t place);
int takeover_put(void *arg, const void *data, toec_u32 n);
/* The section of this kind and engine; NULL: there is none. */
const uint8_t *takeover_find(const struct takeover *t, uint32_t kind, uint32_t engine, size_t *n);
/* Closes descriptors that nobody has taken (own), and frees the rest. */
void takeover_free(struct takeover *t, int own);

enum {
    TREC_ENGINE = 0x6501,
    TREC_COUNTER,
    TREC_QP,
    TREC_SLOT, /* of the queue pair before */
    TREC_GROUP,
    TREC_MEMBER, /* of the group before */
    TREC_HEAD = 0x6601,
    TREC_CLIENT,
    TREC_PORT
};

/* Fields beside those of the tables. */
enum {
    TTAG_AREA = 200,
    TTAG_IRQ,
    TTAG_DOORBELL,
    TTAG_KEPT, /* a listening socket */
    TTAG_NAME,
    TTAG_VALUE,
    TTAG_HELD, /* a bit for each family that a listener has the port of; none: of IPv4 */
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
    TTAG_HEIR_FD
};
#define TAKEOVER_VERSION 1u

#endif
