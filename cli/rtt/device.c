/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - queries and enables the time stamps of an interface's driver (device.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#include "device.h"

static bool driver_ioctl(const char *interface, unsigned long request, void *data)
{
    struct ifreq ifr = {.ifr_data = data};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), e;
    bool ok;

    if (fd < 0)
        return false;
    snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", interface);
    ok = ioctl(fd, request, &ifr) == 0;
    e = errno;
    close(fd);
    errno = e;
    return ok;
}

bool device_stamps(const char *interface, struct device_stamps *d)
{
    struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};

    *d = (struct device_stamps){.clock = -1};
    if (!driver_ioctl(interface, SIOCETHTOOL, &info))
        return false;
    d->known = true;
    d->tx_hardware = info.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE;
    d->rx_hardware = info.so_timestamping & SOF_TIMESTAMPING_RX_HARDWARE;
    d->raw = info.so_timestamping & SOF_TIMESTAMPING_RAW_HARDWARE;
    d->tx_software = info.so_timestamping & SOF_TIMESTAMPING_TX_SOFTWARE;
    d->rx_software = info.so_timestamping & SOF_TIMESTAMPING_RX_SOFTWARE;
    d->rx_all = info.rx_filters & 1u << HWTSTAMP_FILTER_ALL;
    d->tx_on = info.tx_types & 1u << HWTSTAMP_TX_ON;
    d->clock = info.phc_index;
    return true;
}

bool device_enable(const char *interface, struct hwtstamp_config *was)
{
    struct hwtstamp_config want = {.tx_type = HWTSTAMP_TX_ON, .rx_filter = HWTSTAMP_FILTER_ALL};

    *was = (struct hwtstamp_config){0};
    return driver_ioctl(interface, SIOCGHWTSTAMP, was) &&
           driver_ioctl(interface, SIOCSHWTSTAMP, &want);
}

void device_restore(const char *interface, const struct hwtstamp_config *was)
{
    struct hwtstamp_config back = *was;

    (void)driver_ioctl(interface, SIOCSHWTSTAMP, &back); /* fails only when the device is gone */
}

static bool same_address(const struct sockaddr *a, const struct sockaddr_storage *b)
{
    if (!a || a->sa_family != b->ss_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           !memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                   &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, 16);
}

bool device_towards(const struct sockaddr_storage *to, socklen_t len, char *name, size_t size)
{
    struct sockaddr_storage own = {0};
    socklen_t own_len = sizeof own;
    struct ifaddrs *list = NULL, *i;
    int fd = socket(to->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = false;

    if (fd < 0)
        return false;
    if (connect(fd, (const struct sockaddr *)to, len) == 0 &&
        getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 && getifaddrs(&list) == 0) {
        for (i = list; i && !found; i = i->ifa_next)
            if (same_address(i->ifa_addr, &own)) {
                snprintf(name, size, "%s", i->ifa_name);
                found = true;
            }
        freeifaddrs(list);
    }
    close(fd);
    return found;
}
