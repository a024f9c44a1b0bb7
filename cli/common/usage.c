/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - the usage text of the whole program (usage.h). */
#include <stdbool.h>
#include <stdio.h>

#include <toe/attach.h>

#include "usage.h"

static const char usage_text[] =
    "usage: toehold run [--require] [--socket PATH] [--report] [--busy-poll-us N] [--] COMMAND "
    "[ARGUMENT...]\n"
    "       toehold run --engine inline|thread --netif SPEC --ip A.B.C.D/LEN [options] [--] "
    "COMMAND "
    "...\n"
    "       toehold run --engine gateware --netif SPEC --ip A.B.C.D/LEN [options] [--] COMMAND "
    "...\n"
    "       toehold stats [--json] [--socket PATH]\n"
    "       toehold bench pingpong|bulk|conns|http|serve ... (toehold bench --help)\n"
    "       toehold offload [--json] [--socket PATH] [NAME on|off]...\n"
    "       toehold reg list|blocks|dump|read|write|watch ... (toehold reg --help)\n"
    "       toehold rtt --source SOURCE ... (toehold rtt --help)\n"
    "       toehold --help | --version\n"
    "\n"
    "run    runs COMMAND with its TCP sockets carried by the TOE\n"
    "         --require         fail rather than run on the kernel's TCP\n"
    "         --socket PATH     socket of toed (default $TOEHOLD_SOCKET, "
    "else " TOEDEV_DEFAULT_SOCKET ")\n"
    "         --report          say on stderr which sockets the TOE does not carry, and why\n"
    "         --busy-poll-us N  poll N microseconds before sleeping (0 to 1000000)\n"
    "         --engine WHERE    where the TOE runs: toed (default), or in COMMAND itself:\n"
    "                           inline in its calls, thread in a thread of its own; gateware: the\n"
    "                           simulated hardware, which lives as long as COMMAND and its "
    "children\n"
    "       and of such an engine, as toed has them (toed --help): --netif SPEC, --ip, --gateway,\n"
    "       --ip6, --ip6-auto, --gateway6, --mac, --mtu, --spin-us, --max-flows, --congestion,\n"
    "       --ecn, --mtu-probing, --ttl, --offload, --seed; --socket PATH for its statistics, "
    "--linger-ms N\n"
    "       for connections to finish at exit, --cpu N of the thread\n"
    "       gateware has of these --netif, --ip, --gateway, --ip6, --gateway6, --mac, --mtu, "
    "--seed\n"
    "stats  prints what toed counts\n"
    "         --json            as JSON, on stdout\n"
    "bench  loads a TCP server and measures, or is the server\n"
    "\n"
    "offload  shows what toed leaves to its interface, or switches it (as ethtool -k, -K)\n"
    "         --json            as JSON, on stdout\n"
    "\n"
    "reg    registers by name, of an FPGA, a simulation or toed\n"
    "rtt    round-trip times by hardware, kernel, FPGA or TOE\n"
    "\n"
    "exit: the command's own; 1 failure, 2 usage, 3 configuration, 4 no toed, 5 refused under\n"
    "--require, 6 bench: measured, but something failed, 7 reg, rtt: no such registers or\n"
    "source, 8 rtt: nothing was answered, 126 cannot be executed, 127 not found\n";

void cli_usage(bool wrong)
{
    fputs(usage_text, wrong ? stderr : stdout);
}
