/* SPDX-License-Identifier: Apache-2.0 */
/* bar_kinds.h - the operations of each kind of window (bar.h), one bar_KIND.c each. */
#ifndef TOE_CLI_BAR_KINDS_H
#define TOE_CLI_BAR_KINDS_H

#include "bar_map.h"

extern const struct bar_ops bar_pci, bar_uio, bar_vfio, bar_file, bar_sim, bar_toed;

#endif
