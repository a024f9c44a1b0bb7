/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - QEMU's machine `virt` except virtio: serial port, clock, interrupts, power off. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Print text, and a number, to the serial port. */
void board_print(const char *text);
void board_print_number(unsigned long n);
/* Returns nanoseconds since power on. */
uint64_t board_time(void);
/* Enables an interrupt line, which then ends board_sleep(). */
void board_wake_by(unsigned irq);
/* Sleeps until this time or an interrupt, which it claims from the controller. Serve the device and
 * acknowledge its interrupt before the next sleep. */
void board_sleep(uint64_t until);
/* Ends QEMU with exit code 1. */
void board_fail(const char *why) __attribute__((noreturn));

#endif
