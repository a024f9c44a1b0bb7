/* SPDX-License-Identifier: Apache-2.0 */
/* gso.h - cuts a frame of several segments into frames of one, in software. */
#ifndef ENGINE_GSO_H
#define ENGINE_GSO_H

#include <stdint.h>

#include <toe/core.h>

#include "offload.h"

/* The header of the segment of n bytes at payload offset `at` of tx, as TSO makes it; out
 * has room for tx->hdr_len. */
void gso_header(uint8_t *out, const struct toec_tx *tx, uint32_t at, uint32_t n);
/* n bytes of the payload from offset `from` on: where they lie, and copied. */
void gso_slice(struct offload_payload *out, const struct offload_payload *p, uint32_t from,
               uint32_t n);
void gso_gather(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n);
/* ... and summed up meanwhile, as toec_sum(). */
uint16_t gso_gather_sum(uint8_t *out, const struct offload_payload *p, uint32_t from, uint32_t n);

#endif
