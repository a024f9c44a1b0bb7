/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.c - see buffers.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buffers.h"

#define FOLDER  "/proc/sys/net/ipv4/"
#define RECEIVE FOLDER "tcp_rmem"
#define SEND    FOLDER "tcp_wmem"

static bool read_one(const char *path, uint64_t value[3], const char **what)
{
    FILE *f = fopen(path, "re");
    int n;

    *what = path;
    if (!f)
        return false;
    n = fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &value[0], &value[1], &value[2]);
    fclose(f);
    if (n != 3)
        errno = EINVAL;
    return n == 3;
}

static bool write_one(const char *path, const uint64_t value[3], const char **what)
{
    char text[80];
    int n = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", value[0], value[1],
                     value[2]);
    int fd = open(path, O_WRONLY | O_CLOEXEC), e;
    bool ok;

    *what = path;
    if (fd < 0)
        return false;
    ok = write(fd, text, (size_t)n) == n;
    e = errno;
    close(fd);
    errno = e;
    return ok;
}

bool tune_buffers_read(struct tune_buffers *b, const char **what)
{
    return read_one(RECEIVE, b->receive, what) && read_one(SEND, b->send, what);
}

bool tune_buffers_write(const struct tune_buffers *b, const char **what)
{
    struct tune_buffers now;

    if (!tune_buffers_read(&now, what))
        return false;
    return (!memcmp(now.receive, b->receive, sizeof now.receive) ||
            write_one(RECEIVE, b->receive, what)) &&
           (!memcmp(now.send, b->send, sizeof now.send) || write_one(SEND, b->send, what));
}

bool tune_buffers_permitted(void)
{
    return access(RECEIVE, W_OK) == 0 && access(SEND, W_OK) == 0;
}

bool tune_buffers_same(const struct tune_buffers *a, const struct tune_buffers *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void limit(uint64_t value[3], uint64_t most)
{
    value[2] = most;
    if (value[1] > most)
        value[1] = most;
    if (value[0] > value[1])
        value[0] = value[1];
}

void tune_buffers_limit(struct tune_buffers *b, uint64_t most)
{
    limit(b->receive, most);
    limit(b->send, most);
}
