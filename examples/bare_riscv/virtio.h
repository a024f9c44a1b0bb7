/* SPDX-License-Identifier: Apache-2.0 */
/* virtio.h - a network card and a source of random bytes by virtio over MMIO (VIRTIO 1.1, 4.2). */
#ifndef VIRTIO_H
#define VIRTIO_H

#include <stdint.h>

/* Fills buf from virtio-rng. Returns 0, or -1 without such a device. */
int virtio_random(void *buf, uint32_t n);

/* Finds and starts the network card, reads its MAC address. Returns 0, or -1 without a card. */
int net_start(uint8_t mac[6]);
/* Returns the length of the next received frame, valid until the next call. 0: none. */
uint32_t net_receive(const uint8_t **frame);
/* Copies a frame and queues it. Returns -1 when there is no room. */
int net_send(const uint8_t *frame, uint32_t n);
/* Notifies the card of queued frames. */
void net_flush(void);

#endif
