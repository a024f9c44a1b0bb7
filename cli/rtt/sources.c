/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - `toehold rtt --sources`: lists the sources of times that exist here, and why others
 * do not. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "../common/daemon.h"
#include "../common/exit.h"
#include "device.h"
#include "sources.h"
#include "xdp.h"

struct finding {
    const char *name;
    bool there;
    char text[256];
};

static void software(struct finding *f, const char *interface)
{
    struct device_stamps d;

    f->name = "software";
    if (!interface) {
        f->there = true;
        snprintf(f->text, sizeof f->text, "stamps of the kernel, 1 ns; --interface checks one");
    } else if (!device_stamps(interface, &d)) {
        snprintf(f->text, sizeof f->text, "%s: %s", interface, strerror(errno));
    } else {
        f->there = d.tx_software;
        snprintf(f->text, sizeof f->text, "%s: the kernel stamps what arrives%s, 1 ns", interface,
                 d.tx_software ? " and what leaves" : "; the driver does not stamp what leaves");
    }
}

static void hardware(struct finding *f, const char *interface)
{
    struct device_stamps d;

    f->name = "hardware";
    if (!interface)
        snprintf(f->text, sizeof f->text, "needs --interface");
    else if (!device_stamps(interface, &d))
        snprintf(f->text, sizeof f->text, "%s: %s", interface, strerror(errno));
    else if (!d.tx_hardware || !d.rx_hardware || !d.raw)
        snprintf(f->text, sizeof f->text, "%s has no hardware time stamps", interface);
    else if (!d.rx_all || !d.tx_on)
        snprintf(f->text, sizeof f->text, "%s stamps only PTP packets in hardware", interface);
    else {
        f->there = true;
        snprintf(f->text, sizeof f->text, "%s: clock /dev/ptp%d; resolution unknown", interface,
                 d.clock);
    }
}

static void registers(struct finding *f)
{
    f->name = "registers";
    f->there = access("/sys/bus/pci/devices", F_OK) == 0;
    snprintf(f->text, sizeof f->text,
             "a measuring module in an FPGA or a simulation: give --bar, see toehold reg");
}

static void toed(struct finding *f, const char *path)
{
    int fd = cli_connect(path, f->text, sizeof f->text);

    f->name = "toed";
    f->there = fd >= 0;
    if (fd < 0)
        return;
    close(fd);
    snprintf(f->text, sizeof f->text, "toed answers at %.200s; 1024 ns", path);
}

int sources_show(const struct rtt_options *o)
{
    struct finding f[5] = {0};
    json_t *list = json_array();
    size_t i;

    software(&f[0], o->interface);
    hardware(&f[1], o->interface);
    f[2].name = "xdp";
    f[2].there = xdp_there(o->interface, f[2].text, sizeof f[2].text);
    registers(&f[3]);
    toed(&f[4], cli_socket_path(o->socket_path));
    for (i = 0; i < sizeof f / sizeof f[0]; i++) {
        if (o->json)
            json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "source", f[i].name, "there",
                                                  f[i].there, "text", f[i].text));
        else
            printf("%-10s %-4s %s\n", f[i].name, f[i].there ? "yes" : "no", f[i].text);
    }
    if (o->json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(list);
    return CLI_OK;
}
