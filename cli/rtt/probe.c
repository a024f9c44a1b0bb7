/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - times probes by the stamps of the kernel or of the device (probe.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <linux/net_tstamp.h>

#include "device.h"
#include "probe.h"
#include "prober.h"

static const char *interface_of(struct rtt *r, char name[IFNAMSIZ])
{
    if (r->o.interface)
        return r->o.interface;
    return device_towards(&r->o.to, r->o.to_len, name, IFNAMSIZ) ? name : NULL;
}

static bool hardware_there(struct rtt *r, const char *interface)
{
    struct device_stamps d;

    if (!device_stamps(interface, &d))
        return rtt_fail(r, "cannot query the time stamps of %s: %s", interface, strerror(errno));
    if (!d.tx_hardware || !d.rx_hardware || !d.raw)
        return rtt_fail(r, "%s has no hardware time stamps (ethtool -T %s): its driver stamps %s",
                        interface, interface,
                        d.tx_software || d.rx_software ? "in software; use --source software"
                                                       : "nothing");
    if (!d.rx_all || !d.tx_on)
        return rtt_fail(r, "%s stamps only PTP packets in hardware (ethtool -T %s)", interface,
                        interface);
    return true;
}

static bool with_hardware(struct rtt *r)
{
    char name[IFNAMSIZ];
    const char *interface = interface_of(r, name);
    struct source *s = &r->result.source;
    struct hwtstamp_config was;
    struct prober *p;
    bool ok;

    if (!interface)
        return rtt_fail(r, "no interface has a route to the target");
    if (!hardware_there(r, interface))
        return false;
    if (!device_enable(interface, &was))
        return rtt_fail(r, "cannot enable the hardware stamps of %s: %s", interface,
                        strerror(errno));
    snprintf(s->what, sizeof s->what, "hardware time stamps of %s (SO_TIMESTAMPING)", interface);
    snprintf(s->clock, sizeof s->clock, "the device's own; its resolution is unknown");
    p = prober_start(r, true);
    ok = p && prober_run(p);
    if (ok)
        prober_finish(p);
    prober_free(p);
    device_restore(interface, &was);
    return ok;
}

bool probe_run(struct rtt *r)
{
    struct source *s = &r->result.source;
    struct timespec step = {0, 1};
    struct prober *p;
    bool ok;

    if (r->o.source == SOURCE_HARDWARE)
        return with_hardware(r);
    clock_getres(CLOCK_REALTIME, &step);
    s->resolution_ns = (double)step.tv_sec * 1e9 + (double)step.tv_nsec;
    snprintf(s->what, sizeof s->what, "software time stamps of the kernel (SO_TIMESTAMPING)");
    snprintf(s->clock, sizeof s->clock,
             "CLOCK_REALTIME, as the driver takes the probe and as the answer enters the stack");
    p = prober_start(r, false);
    ok = p && prober_run(p);
    if (ok)
        prober_finish(p);
    prober_free(p);
    return ok;
}
