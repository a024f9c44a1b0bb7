/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer.c - checks the descriptors that a host passes to a TOE process (toe/attach.h) against the
 * contract. After these checks, nothing that the host does with them can crash the TOE.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <toe/attach.h>

#define SEALS       (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define TMPFS_MAGIC 0x01021994

int toedev_check_area(int fd, uint64_t total, char *err, size_t n)
{
    struct stat st;
    struct statfs fs;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || (seals & SEALS) != SEALS) {
        snprintf(err, n, "the area is not a memfd sealed against shrinking, growing and sealing");
        return -1;
    }
    if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) {
        snprintf(err, n, "the area is sealed against writing");
        return -1;
    }
    if (fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC) {
        snprintf(err, n, "the area is not on ordinary pages");
        return -1;
    }
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size != total) {
        snprintf(err, n, "the area has %lld bytes, this configuration needs %llu",
                 (long long)st.st_size, (unsigned long long)total);
        return -1;
    }
    return 0;
}

int toedev_check_irq(int fd, int may_block, char *err, size_t n)
{
    char path[64], target[64];
    int flags = fcntl(fd, F_GETFL);
    ssize_t got;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    got = readlink(path, target, sizeof(target) - 1);
    if (got > 0)
        target[got] = 0;
    if (flags < 0 || got <= 0 || strcmp(target, "anon_inode:[eventfd]") != 0) {
        snprintf(err, n, "the interrupt is not an eventfd");
        return -1;
    }
    if (!(flags & O_NONBLOCK) && !may_block) {
        snprintf(err, n, "the interrupt eventfd is not EFD_NONBLOCK");
        return -1;
    }
    return 0;
}

int toedev_process_of(int pidfd, uid_t uid)
{
    char path[32], line[128];
    struct stat st;
    int pid = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
    f = fopen(path, "re");
    while (f && pid == 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, "Pid:", 4) == 0)
            pid = atoi(line + 4);
    if (f)
        fclose(f);
    snprintf(path, sizeof(path), "/proc/%d", pid);
    return pid > 0 && stat(path, &st) == 0 && st.st_uid == uid ? pid : 0;
}
