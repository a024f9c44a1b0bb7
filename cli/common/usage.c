/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - the usage text of the whole program (usage.h). */
#include <stdio.h>
#include <string.h>

#include <toe/attach.h>

#include "usage.h"

#define RUN                                                                                        \
    "toehold run [--require] [--socket PATH] [--report] [--busy-poll-us N] [--] COMMAND...\n"      \
    "       toehold run --engine inline|thread|gateware|hybrid --netif SPEC --ip A.B.C.D/LEN\n"    \
    "                   [options] [--] COMMAND...\n"
#define STATS   "toehold stats [--all] [--json] [--every SECONDS [--count N]] [--socket PATH]\n"
#define OFFLOAD "toehold offload [--json] [--socket PATH] [NAME on|off]...\n"

#define SOCKET                                                                                     \
    "  --socket PATH     socket of toed (default $TOEHOLD_SOCKET,\n"                               \
    "                    else " TOEDEV_DEFAULT_SOCKET ")\n"

static const char head[] =
    "usage: " RUN
    "       toehold flows [--json] [--socket PATH] [FILTER...] (toehold flows --help)\n"
    "       toehold trace [FLOW] [--follow SECONDS [--svg FILE]] ... (toehold trace --help)\n"
    "       toehold top [--every SECONDS] [--batch N] [--json] ... (toehold top --help)\n"
    "       " STATS "       toehold metrics [--listen ADDRESS:PORT|unix:PATH] [--socket PATH]\n"
    "       toehold bench pingpong|bulk|conns|http|serve ... (toehold bench --help)\n"
    "       " OFFLOAD
    "       toehold reg list|blocks|dump|read|write|watch ... (toehold reg --help)\n"
    "       toehold rtt --source SOURCE ... (toehold rtt --help)\n"
    "       toehold help [VERB] | -h, --help | -V, --version\n";

static const char run_text[] =
    "run      executes COMMAND; the TOE carries its TCP sockets\n"
    "  --require         fail instead of running on the kernel's TCP\n" SOCKET
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
    "    --hybrid NAME   configuration of the hybrid TOE: software (the only one yet)\n";

static const char flows_text[] = "flows    lists listeners and flows, as ss -tinop\n";
static const char trace_text[] =
    "trace    prints the last events of a flow, also after it has ended\n";
static const char top_text[] =
    "top      shows rates of engines and flows, on a terminal or as text\n";
static const char stats_text[] =
    "stats    prints the figures of toed that are not zero, with their meaning; --json: as JSON\n"
    "  --all             zeros and offloads too\n"
    "  --every SECONDS   again and again, what has changed: value, delta and rate (1/s)\n"
    "  --count N         ... N times\n";
static const char metrics_text[] =
    "metrics  prints or serves the figures of toed as OpenMetrics (Prometheus)\n";
static const char bench_text[] = "bench    loads a TCP server and measures, or is the server\n";
static const char offload_text[] =
    "offload  shows the offloads of toed's interface, or switches them (as ethtool -k, -K);\n"
    "         --json: as JSON\n";
static const char reg_text[] =
    "reg      reads and writes registers by name, of an FPGA, a simulation or toed\n";
static const char rtt_text[] =
    "rtt      measures round-trip times by hardware, kernel, FPGA or TOE\n";

static const char exit_text[] =
    "\n"
    "exit: that of COMMAND; 1 failure, 2 usage, 3 configuration, 4 no toed, 5 refused by\n"
    "--require, 6 bench: measured, but something failed, 7 reg, rtt: no such registers or\n"
    "source, 8 rtt: nothing was answered, 126 cannot be executed, 127 not found\n";

void cli_usage(void)
{
    printf("%s\n%s%s%s%s%s%s%s%s%s%s%s", head, run_text, flows_text, trace_text, top_text,
           stats_text, metrics_text, bench_text, offload_text, reg_text, rtt_text, exit_text);
}

void cli_usage_of(const char *verb)
{
    if (strcmp(verb, "run") == 0)
        printf("usage: " RUN "\n%s%s", run_text, exit_text);
    else if (strcmp(verb, "stats") == 0)
        printf("usage: " STATS "\n%s" SOCKET "\nexit: 0, 1 failure, 2 usage, 4 no toed\n",
               stats_text);
    else
        printf("usage: " OFFLOAD "\n%s" SOCKET
               "\nexit: 0, 1 failure, 2 usage, 3 not possible here, 4 no toed\n",
               offload_text);
}
