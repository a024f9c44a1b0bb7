/* SPDX-License-Identifier: Apache-2.0 */
/* tcpsim_parts.h - shared by the files that implement tcpsim.h. */
#ifndef TCPSIM_PARTS_H
#define TCPSIM_PARTS_H

#include "tcpsim.h"

/* tcpsim.c */
int sim_chance(unsigned of_1024);
/* Puts a frame of host `from` on the link. */
void sim_link(struct sim *s, unsigned from, uint8_t *data, uint32_t len);
void sim_input(struct sim *s, struct host *h, const uint8_t *data, uint32_t len);
void sim_poll(struct sim *s, struct host *h);
/* fd00::1 for host 0, and so on. */
void sim_address6(uint8_t *b, unsigned host);

/* tcphand.c */
void sim_hand_over_now_and_then(struct host *h);

/* tcpowner.c: the n bytes from `at` on of the stream of this seed. */
void stream_fill(uint8_t *to, uint32_t seed, uint64_t at, uint32_t n);

/* tcpcraft.c: the crafted peer answers a request for its Ethernet address. */
void craft_answer(struct sim *s);

#endif
