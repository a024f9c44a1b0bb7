/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - the kernel's side of a shared address: reads and follows the interface's addresses,
 * routes and neighbours (rtnetlink(7)). Main thread.
 */
#ifndef ENGINE_KERNEL_H
#define ENGINE_KERNEL_H

#include "control.h"
#include "hosts/shared.h"

struct kernel {
    struct shared shared;
    struct control *control;
    struct options *options; /* its prefix is stored there */
    char ifname[16];
    unsigned ifindex;
    uint8_t ip[4], mac[6];
    int has_address; /* the kernel still has the address */
    int events;      /* readable when events are pending; -1: not in use */
    int asked;       /* readable when an engine requests a neighbour */
    struct routes *routes;
    struct addresses6 addresses;
};

/*
 * With --ip shared: reads address, prefix and gateway of the --netif interface into *o. Refuses the
 * interface of the default route without --force. No effect without --ip shared. Returns -1 to
 * continue, or an exit code with a message in err.
 */
int kernel_open(struct kernel *k, struct control *c, struct options *o, char *err, size_t err_size);
/* Called when the engines exist (their threads may run): sends them their routes. */
void kernel_start(struct kernel *k);
/* Called when the engines are restored from another process: sends them the kernel's current state,
 * and configures the ports in the XDP program. */
void kernel_resume(struct kernel *k);
/* Called when k->events is readable. Returns non-zero when the interface has been replaced by
 * another. */
int kernel_news(struct kernel *k);
/* Called when k->asked is readable. */
void kernel_ask(struct kernel *k);
/* Configures all ports in a new XDP program. */
void kernel_announce_ports(struct kernel *k);
/* Like ports_save() and ports_restore(). */
void kernel_save_ports(const struct kernel *k, struct toec_image_out *o, struct takeover *t);
int kernel_restore_port(struct kernel *k, const struct toec_image_in *in, struct takeover *t);
/* Like ports_tidy(). */
int kernel_tidy(struct kernel *k, uint64_t now);
/* ports_set_range() for both families. */
void kernel_set_range(struct kernel *k, const struct port_range *r);
void kernel_close(struct kernel *k);

#endif
