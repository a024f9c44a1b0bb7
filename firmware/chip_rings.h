/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip_rings.h - the TOE's end of the chip's one queue pair: rings, doorbells, status, interrupts
 * (docs/device-contract.md), in memory that the host's processor writes too. What toe_cmd,
 * toe_hwroom and toe_dmaw do in hyb_core. The commands and events of host.h are here.
 */
#ifndef CHIP_RINGS_H
#define CHIP_RINGS_H

#include <stdint.h>

/* The queue pair is attached: both rings begin at 0. */
void rings_start(void);
/* It is detached: no more commands. */
void rings_stop(void);
/* Returns 1 when the host has broken a ring, until the next start. */
int rings_broken(void);

/* Returns 1 when a command waits that may be executed, and the HW ring has room for its answer.
 * Refuses those before it that are malformed. */
int rings_command(void);

/* Writes status.sleeping. */
void rings_sleeping(int sleeping);
/* Interrupts the host when it has armed for what waits in the HW ring. */
void rings_interrupt(void);
/* Returns when it is to be interrupted, if nothing else comes; UINT64_MAX: never. */
uint64_t rings_interrupt_due(void);

/* Rings the bell of the host's processor. */
void chip_ring_bell(void);

#endif
