/* SPDX-License-Identifier: Apache-2.0 */
/* bar_pci.h - names and states of PCI functions, for the kinds pci and vfio. */
#ifndef TOE_CLI_BAR_PCI_H
#define TOE_CLI_BAR_PCI_H

#include <stdbool.h>
#include <stddef.h>

#include "bar_map.h"

/* Parses "65:00.0/2" into the full name of the function ("0000:65:00.0") and a number. */
bool bar_pci_name(struct bar *bar, const char *text, char *device, size_t size, unsigned *number);
/* Sets bar->why for a function that reads all ones, from its state in sysfs. */
void bar_pci_why(struct bar *bar);

#endif
