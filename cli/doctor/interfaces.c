/* SPDX-License-Identifier: Apache-2.0 */
/* interfaces.c - see interfaces.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "../common/word.h"
#include "ethtool.h"
#include "interfaces.h"
#include "netlink.h"

#define CLAIM     "toehold/if/" /* abstract socket of the TOE that serves an interface */
#define MTU_LEAST 576           /* --mtu of toed */
#define MTU_IP6   1280          /* RFC 8200 5 */
#define MTU_USUAL 1500

/* An interface, and what is wanted of it. */
struct look {
    const struct link *link;
    struct ethtool_facts driver;
    bool served;   /* by the TOE of --socket */
    char word[64]; /* its name for a shell */
    struct report *report;
};

/* Returns the process that serves the interface as a TOE; 0: none. */
static int holder(const char *interface)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct ucred cred = {0};
    socklen_t len = sizeof cred;
    int n = snprintf(addr.sun_path + 1, sizeof addr.sun_path - 1, CLAIM "%s", interface);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)&addr,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)n) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
        cred.pid = 0;
    if (fd >= 0)
        close(fd);
    return cred.pid;
}

static void check_up(const struct look *l)
{
    if (!l->link->up) {
        report_add(l->report, FOUND_ERROR, "interface.down", "%s is down", l->link->name);
        report_cure(l->report, "ip link set %s up", l->word);
    } else if (!l->link->carrier) {
        report_add(l->report, FOUND_WARNING, "interface.carrier", "%s has no carrier",
                   l->link->name);
        report_advice(l->report, "check the cable, and that its other end is up");
    }
}

static void check_mtu(const struct look *l, bool ip6)
{
    unsigned least = ip6 ? MTU_IP6 : MTU_LEAST;

    if (l->link->mtu >= least)
        return;
    report_add(l->report, FOUND_ERROR, "interface.mtu",
               "the MTU of %s is %u: the TOE's frames have up to %u bytes", l->link->name,
               l->link->mtu, least);
    report_cure(l->report, "ip link set %s mtu %u", l->word, MTU_USUAL);
}

/* Frames of a queue without an engine are the kernel's, which has no such connection. */
static void check_queues(const struct look *l, size_t engines)
{
    if (!l->served || l->driver.queues <= engines)
        return;
    report_add(
        l->report, FOUND_ERROR, "interface.queues",
        "%s has %u receive queues, toed has %zu engine%s: what arrives at the others is lost",
        l->link->name, l->driver.queues, engines, engines == 1 ? "" : "s");
    report_cure(l->report, "ethtool -L %s %s %zu", l->word, l->driver.separate ? "rx" : "combined",
                engines);
    report_advice(l->report, "or start toed with as many --engines");
}

/* For a native XDP program virtio_net opens a receive queue more per CPU, if the device has so
 * many. These cannot send (netio/src/steer.c). */
static void check_native(const struct look *l)
{
    const struct ethtool_facts *d = &l->driver;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);

    if (strcmp(d->driver, "virtio_net") != 0 || cpus < 1 || d->queues + cpus > d->queues_most)
        return;
    report_add(l->report, FOUND_NOTE, "interface.native",
               "%s uses %u of its %u queues: AF_XDP's native mode opens %ld more, which cannot "
               "send, so toed uses generic mode",
               l->link->name, d->queues, d->queues_most, cpus);
    report_cure(l->report, "ethtool -L %s combined %ld", l->word, (long)d->queues_most - cpus + 1);
    report_advice(l->report, "and start toed with as many --engines");
}

static const char *xdp_word(uint8_t mode)
{
    return mode == XDP_ATTACHED_SKB ? "xdpgeneric" : mode == XDP_ATTACHED_HW ? "xdpoffload" : "xdp";
}

static void check_program(const struct look *l)
{
    int pid = l->served ? 0 : holder(l->link->name);

    if (pid) {
        report_add(l->report, FOUND_NOTE, "interface.claimed",
                   "process %d serves %s as a TOE: another toed cannot", pid, l->link->name);
        return;
    }
    if (!l->link->xdp_id || l->served)
        return;
    report_add(l->report, FOUND_ERROR, "interface.xdp",
               "%s has an XDP program (id %u) that is not toed's: toed cannot attach its own",
               l->link->name, l->link->xdp_id);
    report_cure(l->report, "ip link set dev %s %s off", l->word, xdp_word(l->link->xdp_mode));
    report_advice(l->report, "if the kernel refuses, end the process that attached it");
}

static void check_offloads(const struct look *l, bool vlan)
{
    const struct ethtool_facts *d = &l->driver;

    report_add(l->report, FOUND_OK, "interface.offloads",
               "%s: rx %s, tx %s, sg %s, tso %s, gso %s, gro %s, lro %s", l->link->name,
               d->rx_checksum ? "on" : "off", d->tx_checksum ? "on" : "off", d->sg ? "on" : "off",
               d->tso ? "on" : "off", d->gso ? "on" : "off", d->gro ? "on" : "off",
               d->lro ? "on" : "off");
    if (d->lro) {
        report_add(l->report, FOUND_WARNING, "interface.lro",
                   "%s joins received segments (LRO): drivers refuse native XDP then",
                   l->link->name);
        report_cure(l->report, "ethtool -K %s lro off", l->word);
    }
    if (vlan && d->strips_vlan && strcmp(l->link->kind, "veth") != 0) {
        report_add(l->report, FOUND_ERROR, "interface.vlan",
                   "%s removes VLAN tags before XDP sees them", l->link->name);
        report_cure(l->report, "ethtool -K %s rxvlan off", l->word);
    }
}

/* Describes the modes of AF_XDP that the driver reports to have. */
static const char *modes(int ifindex)
{
    const uint64_t native = XDP_FEATURE_BASIC | XDP_FEATURE_REDIRECT;
    uint64_t has;

    if (!netlink_xdp_features(ifindex, &has))
        return "AF_XDP generic; the kernel does not report more";
    if ((has & native) != native)
        return "AF_XDP generic";
    return has & XDP_FEATURE_ZERO_COPY ? "AF_XDP generic, native, zero copy"
                                       : "AF_XDP generic, native";
}

static void describe(const struct look *l)
{
    const char *driver = l->driver.driver[0] ? l->driver.driver : l->link->kind;

    report_add(l->report, FOUND_OK, "interface.driver", "%s: %s, MTU %u, %u queue%s, %s%s%s",
               l->link->name, *driver ? driver : "unknown driver", l->link->mtu, l->driver.queues,
               l->driver.queues == 1 ? "" : "s", modes(l->link->index), l->link->up ? "" : ", down",
               l->link->master ? ", in a bridge or bond" : "");
}

static void look_at(const struct facts *f, const struct link *link, bool wanted)
{
    struct look l = {.link = link, .report = f->report};
    bool ip6 = toe_option(&f->toe, "ip6") || toe_option(&f->toe, "ip6-auto");

    l.served = f->toe.is_here && strcmp(link->name, f->toe.interface) == 0;
    cli_word(l.word, sizeof l.word, link->name);
    ethtool_read(link->name, &l.driver);
    describe(&l);
    if (!wanted && !l.served)
        return;
    check_up(&l);
    check_mtu(&l, l.served && ip6);
    if (f->toe.kind == TOE_TAP && l.served)
        return;
    if (f->toe.stats)
        check_queues(&l, json_array_size(json_object_get(f->toe.stats, "engines")));
    if (!l.served)
        check_native(&l);
    check_program(&l);
    check_offloads(&l, l.served && toe_option(&f->toe, "vlan"));
}

void check_interfaces(struct facts *f)
{
    struct link *links = NULL;
    int n = netlink_links(&links), i;
    bool found = false;

    if (n < 0)
        report_add(f->report, FOUND_WARNING, "interface.list",
                   "the kernel does not list its interfaces: %s", strerror(errno));
    for (i = 0; i < n; i++) {
        bool wanted = f->interface && strcmp(links[i].name, f->interface) == 0;

        found = found || wanted;
        if (wanted || (!f->interface && !links[i].loopback))
            look_at(f, &links[i], wanted);
    }
    free(links);
    if (!f->interface || found || n < 0)
        return;
    report_add(f->report, FOUND_ERROR, "interface.missing", "there is no interface %s",
               f->interface);
    report_advice(f->report, "`ip link` lists them; it may be in another network namespace");
}
