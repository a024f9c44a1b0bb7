/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - is the network interface still there, and as it was? (rtnetlink(7)) */
#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

#include <stdint.h>

struct link {
    int fd; /* readable when there is news; -1: nothing to watch */
    unsigned ifindex;
    enum link_state { LINK_UP, LINK_NO_CARRIER, LINK_DOWN } state;
    uint32_t mtu; /* 0: not known yet */
    uint8_t mac[6];
};

/* Begins to watch; ifindex 0: there is no interface (a wire, a file). 0, or -1 with errno. */
int link_open(struct link *l, unsigned ifindex);
/* Reads the news and logs what is of interest. Not 0 when the interface is gone. */
int link_gone(struct link *l);
void link_close(struct link *l);

#endif
