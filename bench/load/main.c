/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - toehold-bench, the load generator behind `toehold bench` (cli/README.md). */
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <toe/tsc.h>

#include "load.h"

/* A prime: what is lost or comes twice in blocks of any usual size shows as another byte. */
#define PATTERN_PERIOD 65521u

atomic_int load_interrupted;

static uint8_t pattern[PATTERN_PERIOD + LOAD_PATTERN_MAX];

void load_message(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    flockfile(stderr); /* a line of one thread whole */
    fputs("toehold bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(args);
}

uint64_t load_clock(void)
{
    static __thread struct toe_tsc clock;

    return toe_tsc_now(&clock);
}

struct sockaddr_storage load_addr(const struct load_options *o, uint32_t i)
{
    struct sockaddr_storage a = o->addr;
    in_port_t *port = a.ss_family == AF_INET6 ? &((struct sockaddr_in6 *)&a)->sin6_port
                                              : &((struct sockaddr_in *)&a)->sin_port;

    *port = htons((uint16_t)(ntohs(*port) + i));
    return a;
}

uint64_t load_resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (f && fscanf(f, "%*u %lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void load_pattern_init(void)
{
    uint32_t i;

    for (i = 0; i < PATTERN_PERIOD; i++)
        pattern[i] = (uint8_t)((i * 2654435761u) >> 24);
    for (; i < sizeof pattern; i++)
        pattern[i] = pattern[i - PATTERN_PERIOD];
}

const uint8_t *load_pattern(uint64_t at)
{
    return pattern + at % PATTERN_PERIOD;
}

static void on_signal(int number)
{
    (void)number;
    load_interrupted = 1;
}

/* Where stdin, stdout or stderr is closed, a socket would get its number, and the other side what
 * is said to people. Writing there fails, as before. */
static void keep_numbers(void)
{
    int fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDONLY);
}

static void prepare(void)
{
    struct sigaction act = {.sa_handler = on_signal}; /* no SA_RESTART: waits end */
    struct rlimit files;

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    load_pattern_init();
}

int main(int argc, char **argv)
{
    static struct load_options o;
    int rc;

    keep_numbers();
    rc = load_parse(&o, argc, argv);
    if (rc < 0) {
        prepare();
        rc = o.mode == LOAD_SERVE ? load_server(&o) : load_client(&o);
    }
    free(o.request);
    return rc;
}
