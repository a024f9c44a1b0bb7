/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - the internet checksum of bytes in any place, for a processor of 32 bits. */
#ifndef SUM_H
#define SUM_H

#include <stdint.h>

/* Returns the folded sum of native 16-bit words from `from` on, as toec_sum() does; the last byte
 * of an odd number is padded with a zero. Not complemented. */
uint16_t sum_bytes(const uint8_t *from, uint32_t n);

#endif
