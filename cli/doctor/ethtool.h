/* SPDX-License-Identifier: Apache-2.0 */
/* ethtool.h - what an interface's driver reports to SIOCETHTOOL. Nothing is changed. */
#ifndef TOE_CLI_DOCTOR_ETHTOOL_H
#define TOE_CLI_DOCTOR_ETHTOOL_H

#include <stdbool.h>

struct ethtool_facts {
    char driver[32];      /* "": the driver does not report it */
    unsigned queues;      /* that receive; 1 when the driver does not report them */
    unsigned queues_most; /* that it can have, 0: not reported */
    bool separate;        /* receive and send queues are counted each for itself */
    bool rx_checksum, tx_checksum, sg, tso, gso, gro, lro, strips_vlan;
};

void ethtool_read(const char *interface, struct ethtool_facts *out);

#endif
