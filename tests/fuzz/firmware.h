/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware.h - a model of what surrounds the hybrid TOE's processor (firmware/host.h): the target
 * makes commands, frames, queue pairs and time come, and this checks what the firmware does.
 */
#ifndef FUZZ_FIRMWARE_H
#define FUZZ_FIRMWARE_H

#include "host.h"

#include "fuzz.h"

#define SLOTS    8u /* of a queue pair */
#define BUFFER   4096u
#define FRAMES   16u /* RX buffers */
#define LINK_MTU 1500u
#define HEAD     128u /* of a frame sent: enough for all headers */

/* A connection as the host knows it. */
struct host_slot {
    uint8_t open;      /* *_ESTABLISHED came */
    uint8_t ended;     /* CLOSE_EVENT came, and RELEASE did not */
    uint32_t sent;     /* by SEND, less those refused */
    uint32_t acked;    /* by SEND_COMPLETE */
    uint32_t received; /* by DATA_RECEIVED */
    uint32_t returned; /* by RECV, less those refused */
};

struct queue_pair {
    uint8_t attached;
    uint32_t room;     /* for events in the HW ring */
    uint32_t connects; /* CONNECTs without an answer */
    struct host_slot slots[SLOTS];
};

struct units {
    struct fuzz_in in;
    uint64_t now;
    unsigned rounds;
    uint32_t pending; /* HOST_* */
    struct host_command command;
    struct queue_pair qps[HOST_QPS];
    uint8_t *frames[FRAMES]; /* that wait, each in memory of its own */
    uint32_t lengths[FRAMES];
    uint32_t head, tail, found; /* found: head when the round began */
    uint32_t full;              /* how many times no TX slot is free */
    uint8_t last[HEAD];         /* the last TCP segment sent */
    uint32_t last_payload;
    uint32_t next; /* behind the last segment received */
};
extern struct units units;

/* Maps the registers that firmware reads by itself, and sets those of a driver's start. */
void units_start(void);
/* Makes a frame wait; 0: no buffer is free. */
int units_frame(const uint8_t *frame, uint32_t length);
/* Gives a command, which toe_cmd would have passed. */
void units_command(const struct host_command *c);
/* The target: whether the connection has ended; its CLOSE_EVENT may still wait for room. */
int units_ended(uint8_t qp, uint32_t slot);
/* The target: makes something happen when nothing waits. Does not return after the last event. */
void units_next(uint64_t until);

#endif
