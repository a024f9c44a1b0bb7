/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - the usage text of the whole program (usage.h). */
#include <stdbool.h>
#include <stdio.h>

#include <toe/attach.h>

#include "usage.h"

static const char usage_text[] =
    "usage: toehold run [--require] [--socket PATH] [--report] [--busy-poll-us N] [--] COMMAND...\n"
    "       toehold run --engine inline|thread|gateware|hybrid --netif SPEC --ip A.B.C.D/LEN\n"
    "                   [options] [--] COMMAND...\n"
    "       toehold flows [--json] [--socket PATH] [FILTER...] (toehold flows --help)\n"
    "       toehold stats [--json] [--socket PATH]\n"
    "       toehold bench pingpong|bulk|conns|http|serve ... (toehold bench --help)\n"
    "       toehold offload [--json] [--socket PATH] [NAME on|off]...\n"
    "       toehold reg list|blocks|dump|read|write|watch ... (toehold reg --help)\n"
    "       toehold rtt --source SOURCE ... (toehold rtt --help)\n"
    "       toehold --help | --version\n"
    "\n"
    "run      executes COMMAND; the TOE carries its TCP sockets\n"
    "  --require         fail instead of running on the kernel's TCP\n"
    "  --socket PATH     socket of toed (default $TOEHOLD_SOCKET,\n"
    "                    else " TOEDEV_DEFAULT_SOCKET ")\n"
    "  --report          report on stderr which sockets the TOE does not carry, and why\n"
    "  --busy-poll-us N  poll N microseconds before sleeping (0 to 1000000)\n"
    "  --engine WHERE    toed (default); inline: in the socket calls of COMMAND; thread: in a\n"
    "                    thread of COMMAND; gateware, hybrid: in simulated hardware, which ends\n"
    "                    when COMMAND and its children have ended\n"
    "  options of inline and thread, as for toed (toed --help):\n"
    "                    --netif SPEC, --ip, --gateway, --ip6, --ip6-auto, --gateway6, --vlan,\n"
    "                    --mac, --mtu, --spin-us, --max-flows, --max-neighbours, --congestion,\n"
    "                    --ecn, --mtu-probing, --ttl, --rfc1337, --offload, --seed\n"
    "    --socket PATH   socket for statistics\n"
    "    --linger-ms N   time for connections to finish at exit\n"
    "    --cpu N         CPU of the thread\n"
    "  options of gateware and hybrid:\n"
    "                    --netif, --ip, --gateway, --ip6, --gateway6, --mac, --mtu, --seed\n"
    "    --hybrid NAME   configuration of the hybrid TOE: software (the only one yet)\n"
    "flows    lists listeners and flows, as ss -tinop\n"
    "stats    prints the counters of toed; --json: as JSON\n"
    "bench    loads a TCP server and measures, or is the server\n"
    "offload  shows the offloads of toed's interface, or switches them (as ethtool -k, -K);\n"
    "         --json: as JSON\n"
    "reg      reads and writes registers by name, of an FPGA, a simulation or toed\n"
    "rtt      measures round-trip times by hardware, kernel, FPGA or TOE\n"
    "\n"
    "exit: that of COMMAND; 1 failure, 2 usage, 3 configuration, 4 no toed, 5 refused by\n"
    "--require, 6 bench: measured, but something failed, 7 reg, rtt: no such registers or\n"
    "source, 8 rtt: nothing was answered, 126 cannot be executed, 127 not found\n";

void cli_usage(bool wrong)
{
    fputs(usage_text, wrong ? stderr : stdout);
}
