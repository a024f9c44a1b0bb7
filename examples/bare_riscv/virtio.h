/* SPDX-License-Identifier: Apache-2.0 */
/* virtio.h - a network card and a source of random bytes by virtio over MMIO (VIRTIO 1.1, 4.2). */
#ifndef VIRTIO_H
#define VIRTIO_H

#include <stdint.h>

/* Fills buf from the machine's virtio-rng; 0, or -1: there is none. */
int virtio_random(void *buf, uint32_t n);

/* Finds and starts the network card: its Ethernet address, 0, or -1: there is none. */
int net_start(uint8_t mac[6]);
/* The next frame that has come in, valid until net_receive() is called again; 0: none. */
uint32_t net_receive(const uint8_t **frame);
/* Copies a frame and sends it; -1: no room now. */
int net_send(const uint8_t *frame, uint32_t n);
/* Tells the card of the frames given to it since. */
void net_flush(void);

#endif
