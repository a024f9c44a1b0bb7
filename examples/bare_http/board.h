/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - the host's processor of the chip: console, end, time (device/hyb.rdl, device/chip.rdl).
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void board_print(const char *text);
void board_print_number(uint32_t n);
/* Prints why and ends: the simulation, or the program until the next reset of the chip. */
void board_fail(const char *why) __attribute__((noreturn));
/* Returns milliseconds since reset, modulo 2^32. */
uint32_t board_milliseconds(void);

#endif
