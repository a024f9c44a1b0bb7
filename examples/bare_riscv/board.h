/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - what QEMU's machine `virt` has besides virtio: serial port, clock, interrupts, end. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Text, and a number, to the serial port. */
void board_print(const char *text);
void board_print_number(unsigned long n);
/* Nanoseconds since power on. */
uint64_t board_time(void);
/* Makes this interrupt line wake board_sleep(). */
void board_wake_by(unsigned irq);
/* Sleeps until this time, or an interrupt, which is taken from the controller: the device must be
 * served and told before the next sleep. */
void board_sleep(uint64_t until);
/* Ends QEMU with exit code 1. */
void board_fail(const char *why) __attribute__((noreturn));

#endif
