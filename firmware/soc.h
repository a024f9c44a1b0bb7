/* SPDX-License-Identifier: Apache-2.0 */
/* soc.h - the devices of hyb_soc (device/hyb.rdl): console, clock, exit, fast interrupts. */
#ifndef SOC_H
#define SOC_H

#include <stdint.h>

/* Print text, and a number in decimal, to the console. */
void soc_print(const char *text);
void soc_print_number(uint32_t n);
/* Returns cycles since reset. */
uint64_t soc_cycles(void);
/* Returns the units that the design has. */
#define SOC_SEND    1u /* MAU, DFU, PCU: the prototype */
#define SOC_HEADERS 2u /* the header unit: the complete one */
uint32_t soc_units(void);
/* Ends the simulation with this exit code. */
void soc_exit(int code) __attribute__((noreturn));
/* Prints the reason and exits with 1. */
void soc_fail(const char *why) __attribute__((noreturn));
/* Sets the handler of fast interrupts, n = 0..14, and enables those in the mask. The handler must
 * remove the cause of the interrupt. */
void soc_interrupts(void (*handler)(unsigned n), uint32_t mask);
/* Raises the fast interrupts in the mask, or none. */
void soc_raise(uint32_t mask);

#endif
