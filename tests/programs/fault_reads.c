/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_reads.c PEER PORT - connects, listens, and faults on unmapped memory within a call on the
 * connection. The handler reads from a socket. Exits with 0 if that read returns.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "argument.h"

static int ends[2];

static void on_fault(int number)
{
    char byte;

    (void)number;
    _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
}

int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    struct sigaction act = {.sa_handler = on_fault};
    void *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int s = socket(AF_INET, SOCK_STREAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t n = sizeof(to);

    if (argc != 3 || s < 0 || listener < 0 || nothing == MAP_FAILED ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || write(ends[1], "x", 1) != 1)
        return 2;
    to.sin_port = htons(port_argument(argv[2]));
    if (inet_pton(AF_INET, argv[1], &to.sin_addr) != 1 ||
        connect(s, (struct sockaddr *)&to, sizeof(to)) != 0 || listen(listener, 1) != 0)
        return 2;
    sigaction(SIGSEGV, &act, NULL);
    getpeername(s, (struct sockaddr *)nothing, &n);
    fputs("no fault\n", stderr);
    return 3;
}
