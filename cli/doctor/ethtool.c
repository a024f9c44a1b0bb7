/* SPDX-License-Identifier: Apache-2.0 */
/* ethtool.c - see ethtool.h. */
#define _GNU_SOURCE
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ethtool.h"

static bool request(int fd, const char *interface, void *command)
{
    struct ifreq r;

    memset(&r, 0, sizeof r);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
    r.ifr_data = command;
    return ioctl(fd, SIOCETHTOOL, &r) == 0;
}

static bool is_on(int fd, const char *interface, uint32_t command)
{
    struct ethtool_value v = {.cmd = command};

    return request(fd, interface, &v) && v.data;
}

void ethtool_read(const char *interface, struct ethtool_facts *out)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    *out = (struct ethtool_facts){.queues = 1};
    if (fd < 0)
        return;
    if (request(fd, interface, &info))
        snprintf(out->driver, sizeof out->driver, "%.31s", info.driver);
    if (request(fd, interface, &channels) && channels.rx_count + channels.combined_count) {
        out->queues = channels.rx_count + channels.combined_count;
        out->queues_most = channels.max_rx + channels.max_combined;
        out->separate = channels.rx_count != 0;
    }
    if (!request(fd, interface, &flags))
        flags.data = 0;
    out->lro = flags.data & ETH_FLAG_LRO;
    out->strips_vlan = flags.data & ETH_FLAG_RXVLAN;
    out->rx_checksum = is_on(fd, interface, ETHTOOL_GRXCSUM);
    out->tx_checksum = is_on(fd, interface, ETHTOOL_GTXCSUM);
    out->sg = is_on(fd, interface, ETHTOOL_GSG);
    out->tso = is_on(fd, interface, ETHTOOL_GTSO);
    out->gso = is_on(fd, interface, ETHTOOL_GGSO);
    out->gro = is_on(fd, interface, ETHTOOL_GGRO);
    close(fd);
}
