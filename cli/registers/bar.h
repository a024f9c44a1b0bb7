/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar.h - a window of registers of any kind; one bar_*.c implements each kind. Registers are 32
 * bits wide and little endian; every access has 32 bits.
 *
 *   pci:DEVICE[/N]  resourceN of a PCI function (0000:65:00.0; N: 2 by default), or its path
 *   uio:N[/M]       map M (0 by default) of /dev/uioN
 *   vfio:DEVICE[/N] region N (2 by default) of a PCI function bound to vfio-pci
 *   file:PATH       a file that holds an image of registers
 *   sim:PATH        a simulation's Unix socket
 *   toed[:PATH]     the register page of a running toed
 *
 * @OFFSET may follow: the registers begin there, such as OpenNIC's box at @0x100000.
 */
#ifndef TOE_CLI_BAR_H
#define TOE_CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "bar_map.h"

#define BAR_SPECS "pci:DEVICE[/N], uio:N[/M], vfio:DEVICE[/N], file:PATH, sim:PATH or toed[:PATH]"

/* Opens the window that spec names. Rejects a window that reads all ones, as no device answers
 * there. Returns 0, or an exit code after a message. */
int bar_open(struct bar *bar, const char *spec, bool write);
void bar_close(struct bar *bar);

/* Access an address, which counts from @OFFSET. Return false after a message. */
bool bar_read32(struct bar *bar, uint64_t at, uint32_t *value);
bool bar_write32(struct bar *bar, uint64_t at, uint32_t value);
/* Access 32 or 64 bits. The lower half of 64 bits comes first: it latches the upper half. */
bool bar_read(struct bar *bar, uint64_t at, unsigned width, uint64_t *value);
bool bar_write(struct bar *bar, uint64_t at, unsigned width, uint64_t value);

#endif
