/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program `toehold`: subcommands and what they share. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <toe/attach.h>

#include "cli.h"

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

void cli_message(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("toehold: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

bool cli_number(const char *text, unsigned long min, unsigned long max, unsigned long *value)
{
    char *end;

    /* strtoul takes leading blanks and a sign, which no setting of ours has. */
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && *value >= min && *value <= max;
}

const char *cli_socket_path(const char *option)
{
    const char *env = getenv(TOEDEV_SOCKET_ENV);

    if (option)
        return option;
    return env && *env ? env : TOEDEV_DEFAULT_SOCKET;
}

int cli_connect(const char *path, char *why, size_t why_size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof addr.sun_path) {
        snprintf(why, why_size, "the socket path %s is longer than %zu bytes", path,
                 sizeof addr.sun_path - 1);
        return -1;
    }
    memcpy(addr.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        snprintf(why, why_size, "cannot make a socket: %s", strerror(errno));
        return -1;
    }
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0)
        return fd;
    if (errno == ENOENT || errno == ECONNREFUSED)
        snprintf(why, why_size,
                 "no toed answers at %s (start toed, or name its socket by --socket)", path);
    else
        snprintf(why, why_size, "cannot reach toed at %s: %s", path, strerror(errno));
    close(fd);
    return -1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        cli_message("which subcommand? run, stats, bench, offload, reg or rtt");
        cli_usage(true);
        return CLI_USAGE;
    }
    if (!strcmp(argv[1], "run"))
        return cli_run(argc - 1, argv + 1);
    if (!strcmp(argv[1], "stats"))
        return cli_stats(argc - 1, argv + 1);
    if (!strcmp(argv[1], "bench"))
        return cli_bench(argv + 1);
    if (!strcmp(argv[1], "offload"))
        return cli_offload(argc - 1, argv + 1);
    if (!strcmp(argv[1], "reg"))
        return cli_reg(argc - 1, argv + 1);
    if (!strcmp(argv[1], "rtt"))
        return cli_rtt(argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_usage(false);
        return CLI_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("toehold %s (device contract %u)\n", TOEHOLD_VERSION, TOEDEV_CONTRACT_VERSION);
        return CLI_OK;
    }
    cli_message("unknown subcommand %s", argv[1]);
    cli_usage(true);
    return CLI_USAGE;
}
