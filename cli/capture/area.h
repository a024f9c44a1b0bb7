/* SPDX-License-Identifier: Apache-2.0 */
/* area.h - the frames of a running TOE, from the memory that it shares (toe/capture.h). The TOE may
 * be a program of another user: all that is read from the memory is checked. */
#ifndef TOE_CLI_CAPTURE_AREA_H
#define TOE_CLI_CAPTURE_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include <toe/capture.h>

struct area;

/* A frame in memory of its own, valid until the next call with the area. */
struct frame {
    unsigned engine;
    uint64_t time_ns; /* since 1970 */
    uint64_t cycle;   /* of hardware; 0: none */
    const uint8_t *data;
    uint32_t len, cap; /* bytes of the frame, and of those how many are at data */
    uint32_t qp, slot; /* of the flow, or TOECAP_NONE */
    char flow[40];     /* its id, as toehold flows and toehold trace have it; empty: none */
    uint32_t flags;    /* TOECAP_OUT, TOECAP_LOCAL, TOECAP_PARTIAL */
    uint16_t gso_size;
    const struct toecap_reason *reason; /* of a drop; NULL: not dropped */
};

/* Begins a capture with so many bytes of each frame and MiB of each ring. NULL, with an exit code,
 * after a message. */
struct area *area_open(const char *socket, uint32_t snaplen, uint32_t mib, int *code);
/* Ends the capture in the TOE. area_next() then takes what has arrived until this call. */
void area_stop(struct area *a);
void area_close(struct area *a);

/* What the TOE says of itself. */
const struct toecap_header *area_header(const struct area *a);
/* Becomes readable when the TOE has ended; -1 after area_stop(). */
int area_fd(const struct area *a);
/* Returns whether the TOE has ended, or was replaced by another. */
bool area_ended(const struct area *a);
/* Takes the oldest frame that is there. Returns 1, 0 when there is none, or -1 after a message:
 * the memory is not what the contract describes. */
int area_next(struct area *a, struct frame *f);
/* Frames of an engine: those taken or lost, and of them those lost because they did not fit. */
void area_counts(const struct area *a, unsigned engine, uint64_t *frames, uint64_t *lost);

#endif
