/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk_pci.h - reads from a PCI device's configuration space what DPDK does not report.
 */
#ifndef TOE_NETIO_DPDK_PCI_H
#define TOE_NETIO_DPDK_PCI_H

#include <stddef.h>
#include <stdint.h>

/* Returns whether the first size bytes of a configuration space list the MSI-X capability (PCI
 * Local Bus 3.0, 6.7 and 6.8.2). Returns 1 when the list is not among them. */
int dpdk_pci_lists_msix(const uint8_t *config, size_t size);
/* The same for the device at this address ("0000:03:00.0"). Returns 1 when it cannot be read. */
int dpdk_pci_has_msix(const char *address);

#endif
