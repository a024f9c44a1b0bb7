/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.c - register page 0 of the software TOE: a sealed memfd that hosts can read
 * (docs/device-contract.md, Registers; device/toe.rdl).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/regs.h>

#include "control.h"
#include "registers.h"

#define ID_TOE1  0x31454f54u
#define TICK_1NS 1000000000u

static void fill(const struct control *c, toe_regs_t *r)
{
    const struct options *o = c->options;

    r->ID = ID_TOE1;
    r->CONTRACT = TOEDEV_CONTRACT_VERSION;
    memcpy(&r->BUILD_ID, TOEHOLD_VERSION,
           sizeof(TOEHOLD_VERSION) < 8 ? sizeof(TOEHOLD_VERSION) : 8);
    r->FEATURES = TOE_REGS__FEATURES__SACK_bm | TOE_REGS__FEATURES__TIMESTAMPS_bm |
                  TOE_REGS__FEATURES__MODERATION_bm | TOE_REGS__FEATURES__CUBIC_bm |
                  TOE_REGS__FEATURES__ECN_bm | TOE_REGS__FEATURES__FASTOPEN_bm |
                  TOE_REGS__FEATURES__URGENT_bm | TOE_REGS__FEATURES__PACING_bm |
                  TOE_REGS__FEATURES__PMTUD_bm;
    if (c->mtu > 1500)
        r->FEATURES |= TOE_REGS__FEATURES__JUMBO_bm;
    r->QUEUE_PAIRS = o->max_qps * o->engines;
    r->FLOWS = o->max_flows * o->engines;
    r->SLOTS = TOEDEV_SLOTS_MAX;
    r->BUFFER_MIN = TOEDEV_BUFFER_MIN;
    r->BUFFER_MAX = TOEDEV_BUFFER_MAX;
    r->TICK_HZ = TICK_1NS;
    r->MAC_LO = (uint32_t)c->mac[0] | (uint32_t)c->mac[1] << 8 | (uint32_t)c->mac[2] << 16 |
                (uint32_t)c->mac[3] << 24;
    r->MAC_HI = (uint32_t)c->mac[4] | (uint32_t)c->mac[5] << 8;
    r->MTU = c->mtu;
    r->IPV4 = toe_ip4_number(o->ip);
    r->IPV4_PREFIX = o->prefix_len;
    r->IPV4_GATEWAY = toe_ip4_number(o->gateway);
}

int registers_new(const struct control *c)
{
    static toe_regs_t page; /* this TOE's doorbell pages are in the queue pairs' areas */
    int fd = memfd_create("toe-registers", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    fill(c, &page);
    if (write(fd, &page, TOEDEV_PAGE) != TOEDEV_PAGE ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
        int e = errno;

        close(fd);
        errno = e;
        return -1;
    }
    return fd;
}
