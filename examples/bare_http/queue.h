/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the smallest host of a TOE: the rings of one queue pair (docs/device-contract.md) on
 * the chip, without an operating system. The application keeps each connection's state by itself;
 * slots are connections, and stream byte n is at n modulo the buffer.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdint.h>

#include <toe/chip.h>
#include <toe/cmd.h>

struct queue_event {
    uint8_t type, flags;
    uint16_t aux;
    uint32_t flow, arg0, arg1;
};

/* Configures the TOE (all of the page but enable and attached), and waits until it serves the queue
 * pair. */
void queue_open(const struct toechip_page *page);
/* Takes the next event; 0: there is none. */
int queue_event(struct queue_event *e);
/* Returns how many commands may be written now. */
uint32_t queue_room(void);
/* Writes a command, for which there is room. `type_aux` is its first word without the phase. */
void queue_command(uint32_t type_aux, uint32_t flow, uint32_t arg0, uint32_t arg1);
/* Announces what was written and taken to the TOE. */
void queue_publish(void);
/* Sleeps until an event is there, or until the TOE has taken commands when `room` is 1. */
void queue_wait(int room);
/* Returns the reason for which the TOE has halted the queue pair; 0: it has not. */
uint32_t queue_halted(void);

/* Return a slot's send buffer, and its receive buffer. */
static inline uint8_t *queue_send_buffer(uint32_t flow)
{
    return (uint8_t *)(TOECHIP_MEMORY + TOECHIP_BUFFERS + flow * (TOECHIP_TX + TOECHIP_RX));
}
static inline const uint8_t *queue_receive_buffer(uint32_t flow)
{
    return queue_send_buffer(flow) + TOECHIP_TX;
}

#endif
