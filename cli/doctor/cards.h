/* SPDX-License-Identifier: Apache-2.0 */
/* cards.h - checks of PCI network cards that DPDK is to use. */
#ifndef TOE_CLI_DOCTOR_CARDS_H
#define TOE_CLI_DOCTOR_CARDS_H

#include "facts.h"

/* Adds cards.dpdk, cards.iommu, cards.huge_pages and cards.driver. */
void check_cards(struct facts *f);

#endif
