/* SPDX-License-Identifier: Apache-2.0 */
/* gso.h - splits a frame of several segments into frames of one segment, in software;
 * toec_tx_cut() of core.h writes their headers. */
#ifndef ENGINE_GSO_H
#define ENGINE_GSO_H

#include <stdint.h>

#include <toe/core.h>

#include "offload.h"

/* The n bytes of payload at offset `from`: gso_slice() returns references to them, gso_gather()
 * copies them. */
void gso_slice(struct offload_payload *out, const struct offload_payload *p, uint32_t from,
               uint32_t n);
void gso_gather(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n);
/* Copies them and returns their checksum, as toec_sum() does. */
uint16_t gso_gather_sum(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n);

#endif
