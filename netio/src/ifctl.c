/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ifctl.c - queries and sets properties of an interface (netdevice(7), ethtool ioctl).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ifctl.h"

int ifctl_check_name(const char *who, const char *name, const struct netio_err *err)
{
    if (!*name) {
        netio_err_set(err, "%s: no interface named: write %s:IFNAME", who, who);
        return -1;
    }
    if (strlen(name) >= IFNAMSIZ || strchr(name, '/') || strchr(name, ' ')) {
        netio_err_set(err,
                      "%s: '%s' cannot be an interface's name: at most %d characters without "
                      "slash and space",
                      who, name, IFNAMSIZ - 1);
        return -1;
    }
    return 0;
}

static int request(const char *name, unsigned long code, struct ifreq *ifr)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result;
    int saved;

    if (fd < 0)
        return -1;
    strncpy(ifr->ifr_name, name, IFNAMSIZ - 1);
    ifr->ifr_name[IFNAMSIZ - 1] = '\0';
    result = ioctl(fd, code, ifr);
    saved = errno;
    close(fd);
    errno = saved;
    return result < 0 ? -1 : 0;
}

int ifctl_get_mac(const char *name, uint8_t mac[6])
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    if (request(name, SIOCGIFHWADDR, &ifr))
        return -1;
    memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
    return 0;
}

int ifctl_get_mtu(const char *name, uint32_t *mtu)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    if (request(name, SIOCGIFMTU, &ifr))
        return -1;
    *mtu = (uint32_t)ifr.ifr_mtu;
    return 0;
}

int ifctl_is_up(const char *name, int *up)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    if (request(name, SIOCGIFFLAGS, &ifr))
        return -1;
    *up = (ifr.ifr_flags & IFF_UP) != 0;
    return 0;
}

int ifctl_set_up(const char *name)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    if (request(name, SIOCGIFFLAGS, &ifr))
        return -1;
    ifr.ifr_flags |= IFF_UP;
    return request(name, SIOCSIFFLAGS, &ifr);
}

int ifctl_set_address(const char *name, const uint8_t ip[4], unsigned prefix_len)
{
    struct sockaddr_in sin = {.sin_family = AF_INET};
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    memcpy(&sin.sin_addr, ip, 4);
    memcpy(&ifr.ifr_addr, &sin, sizeof(sin));
    if (request(name, SIOCSIFADDR, &ifr))
        return -1;
    memset(&ifr, 0, sizeof(ifr));
    sin.sin_addr.s_addr = prefix_len ? htonl(0xffffffffu << (32 - prefix_len)) : 0;
    memcpy(&ifr.ifr_netmask, &sin, sizeof(sin));
    return request(name, SIOCSIFNETMASK, &ifr);
}

/* Reads the numbers of queues. Returns 0, or -1 when the driver does not report them. */
static int get_channels(const char *name, struct ethtool_channels *channels)
{
    struct ifreq ifr;

    memset(channels, 0, sizeof(*channels));
    channels->cmd = ETHTOOL_GCHANNELS;
    memset(&ifr, 0, sizeof(ifr));
    ifr.ifr_data = (void *)channels;
    return request(name, SIOCETHTOOL, &ifr);
}

uint32_t ifctl_get_queues(const char *name)
{
    struct ethtool_channels channels;
    uint32_t queues = 0;

    if (get_channels(name, &channels) == 0)
        queues = channels.rx_count + channels.combined_count;
    return queues ? queues : 1;
}

uint32_t ifctl_get_most_queues(const char *name)
{
    struct ethtool_channels channels;
    uint32_t most = 0, now = ifctl_get_queues(name);

    if (get_channels(name, &channels) == 0)
        most = channels.max_rx + channels.max_combined;
    return most > now ? most : now;
}

int ifctl_strips_vlan(const char *name)
{
    struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    ifr.ifr_data = (void *)&flags;
    return request(name, SIOCETHTOOL, &ifr) == 0 && (flags.data & ETH_FLAG_RXVLAN) != 0;
}

int ifctl_get_driver(const char *name, char *driver, size_t size)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    ifr.ifr_data = (void *)&info;
    if (request(name, SIOCETHTOOL, &ifr))
        return -1;
    snprintf(driver, size, "%.*s", (int)sizeof(info.driver), info.driver);
    return 0;
}
