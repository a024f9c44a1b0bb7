/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - a shared address, seen from the kernel's side: what it has of addresses, routes and
 * neighbours of the interface, and what becomes of them (rtnetlink(7)). Main thread.
 */
#ifndef ENGINE_KERNEL_H
#define ENGINE_KERNEL_H

#include "control.h"
#include "hosts/shared.h"

struct kernel {
    struct shared shared;
    struct control *control;
    struct options *options; /* which have its prefix */
    char ifname[16];
    unsigned ifindex;
    uint8_t ip[4], mac[6];
    int has_address; /* ... the kernel, still */
    int events;      /* readable when something has happened; -1: not in use */
    int asked;       /* readable when an engine asks about a neighbour */
    struct routes *routes;
    struct addresses6 addresses;
};

/*
 * With --ip shared: takes address, prefix and gateway from the interface that --netif names, and
 * puts them into *o. Refuses an interface of the default route without --force. Without: nothing.
 * -1 to go on, or an exit code with a sentence in err.
 */
int kernel_open(struct kernel *k, struct control *c, struct options *o, char *err, size_t err_size);
/* Engines have been made (their threads may run): they get their routes. */
void kernel_start(struct kernel *k);
/* They are as they were in another process: they get what the kernel has now, the XDP program its
 * ports. */
void kernel_resume(struct kernel *k);
/* k->events is readable. Not 0 when the interface has become another. */
int kernel_news(struct kernel *k);
/* k->asked is readable. */
void kernel_ask(struct kernel *k);
/* Says all ports to the XDP program, which is another one. */
void kernel_say_ports(struct kernel *k);
/* As ports_save() and ports_restore(). */
void kernel_save_ports(const struct kernel *k, struct toec_image_out *o, struct takeover *t);
int kernel_restore_port(struct kernel *k, const struct toec_image_in *in, struct takeover *t);
/* As ports_tidy(). */
int kernel_tidy(struct kernel *k, uint64_t now);
void kernel_close(struct kernel *k);

#endif
