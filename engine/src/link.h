/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - is the network interface still there, and up? (rtnetlink(7)) */
#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

struct link {
    int fd; /* readable when there is news; -1: nothing to watch */
    unsigned ifindex;
    int down;
};

/* Begins to watch; ifindex 0: there is no interface (a wire, a file). 0, or -1 with errno. */
int link_open(struct link *l, unsigned ifindex);
/* Reads the news and logs what is of interest. Not 0 when the interface is gone. */
int link_gone(struct link *l);
void link_close(struct link *l);

#endif
