/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar.h - a window of registers, wherever it is had from: one bar_*.c for each kind. Registers are
 * 32 bits wide and little endian; each access is one of 32 bits.
 *
 *   pci:DEVICE[/N]  resourceN of a PCI function (0000:65:00.0; N: 2 unless said), or its path
 *   uio:N[/M]       map M (0 unless said) of /dev/uioN
 *   vfio:DEVICE[/N] region N (2 unless said) of a PCI function that vfio-pci has
 *   file:PATH       a file that holds an image of registers
 *   sim:PATH        a simulation's Unix socket
 *   toed[:PATH]     the register page of a running toed
 *
 * Behind each may stand @OFFSET: the registers begin there, such as OpenNIC's box at @0x100000.
 */
#ifndef TOE_CLI_BAR_H
#define TOE_CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "bar_map.h"

#define BAR_SPECS "pci:DEVICE[/N], uio:N[/M], vfio:DEVICE[/N], file:PATH, sim:PATH or toed[:PATH]"

/* Opens what spec names and looks whether it answers: a window that reads all ones is refused. 0 or
 * an exit code with the message said. */
int bar_open(struct bar *bar, const char *spec, bool write);
void bar_close(struct bar *bar);

/* At an address of the window, from @OFFSET on. False: said. */
bool bar_read32(struct bar *bar, uint64_t at, uint32_t *value);
bool bar_write32(struct bar *bar, uint64_t at, uint32_t value);
/* Width 32 or 64; of 64 bits the lower half is first, as the blocks latch the upper by it. */
bool bar_read(struct bar *bar, uint64_t at, unsigned width, uint64_t *value);
bool bar_write(struct bar *bar, uint64_t at, unsigned width, uint64_t value);

#endif
