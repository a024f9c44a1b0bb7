/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_reads.c PEER PORT - connects, listens, and faults on unmapped memory within a call on the
 * connection. The handler reads from a socket. Exits with 0 if that read returns. It is installed
 * past libtoe, as runtimes without libc do, so that the call does not return EFAULT.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "argument.h"

static int ends[2];

static void on_fault(int number)
{
    char byte;

    (void)number;
    _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
}

#ifdef __x86_64__
static void restorer(void)
{
    _exit(4); /* on_fault() does not return */
}

/* rt_sigaction() without a function that libtoe could interpose. Returns 0, or a negative errno. */
static long install(int number, void (*handler)(int))
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } act = {handler, 0x04000000 /* SA_RESTORER */, restorer, 0};
    register long size __asm__("r10") = sizeof(act.mask);
    long r = SYS_rt_sigaction;

    __asm__ volatile("syscall"
                     : "+a"(r)
                     : "D"((long)number), "S"(&act), "d"(0l), "r"(size)
                     : "rcx", "r11", "memory");
    return r;
}
#else
static long install(int number, void (*handler)(int))
{
    struct sigaction act = {.sa_handler = handler};

    return sigaction(number, &act, NULL);
}
#endif

int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
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
    if (install(SIGSEGV, on_fault) != 0)
        return 2;
    getpeername(s, (struct sockaddr *)nothing, &n);
    fputs("no fault\n", stderr);
    return 3;
}
