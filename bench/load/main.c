/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - toehold-bench, the load generator behind `toehold bench` (cli/README.md). */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client.h"
#include "common.h"
#include "options.h"
#include "pattern.h"
#include "server.h"

static void on_signal(int number)
{
    (void)number;
    load_interrupted = 1;
}

/* Opens a closed stdin, stdout or stderr. Otherwise a socket would get the number, and the peer
 * would receive our messages. The descriptors are read-only, so writes still fail. */
static void reserve_standard_fds(void)
{
    int fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDONLY);
}

static void prepare(void)
{
    struct sigaction act = {.sa_handler = on_signal}; /* no SA_RESTART: system calls return */
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

    reserve_standard_fds();
    rc = load_parse(&o, argc, argv);
    if (rc < 0) {
        prepare();
        rc = o.mode == LOAD_SERVE ? load_server(&o) : load_client(&o);
    }
    free(o.request);
    return rc;
}
