/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - watches the state of the network interface (rtnetlink(7)). */
#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

#include <stdint.h>

struct link {
    int fd; /* readable when events are pending; -1: nothing to watch */
    unsigned ifindex;
    enum link_state { LINK_UP, LINK_NO_CARRIER, LINK_DOWN } state;
    uint32_t mtu; /* 0: not known yet */
    uint8_t mac[6];
};

/* Starts watching; ifindex 0: no interface (a wire, a file). Returns 0, or -1 with errno. */
int link_open(struct link *l, unsigned ifindex);
/* Reads pending events and logs relevant changes. Returns non-zero when the interface is gone. */
int link_gone(struct link *l);
void link_close(struct link *l);

#endif
