/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - see files.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../common/part.h"
#include "../common/word.h"
#include "files.h"

#define SPACE_LEAST 65536 /* bytes: a socket takes none on tmpfs, a page on others */
#define FILES_LEAST 4

/* Writes the nearest folder above path that exists: toed makes the last one itself. */
static void folder_of(const char *path, char *folder, size_t size)
{
    struct stat st;
    char *slash;

    snprintf(folder, size, "%s", path);
    do {
        slash = strrchr(folder, '/');
        if (!slash) {
            snprintf(folder, size, ".");
            return;
        }
        slash[slash == folder] = '\0';
    } while (strcmp(folder, "/") != 0 && stat(folder, &st) != 0);
}

/* Writes the mount point of a folder: the last one upwards on the same file system. */
static void mount_of(const char *folder, char *mount, size_t size)
{
    char up[PATH_MAX], full[PATH_MAX];
    struct stat here, above;

    snprintf(mount, size, "%s", realpath(folder, full) ? full : folder);
    while (strcmp(mount, "/") != 0 && stat(mount, &here) == 0) {
        folder_of(mount, up, sizeof up);
        if (stat(up, &above) != 0 || above.st_dev != here.st_dev)
            return;
        snprintf(mount, size, "%s", up);
    }
}

static void check_folder(struct report *r, const char *socket_path)
{
    char folder[PATH_MAX], mount[PATH_MAX], word[PATH_MAX];
    unsigned long long left;
    struct statvfs v;

    folder_of(socket_path, folder, sizeof folder);
    if (statvfs(folder, &v) != 0) {
        report_add(r, FOUND_WARNING, "files.space", "%s: %s", folder, strerror(errno));
        return;
    }
    left = (unsigned long long)v.f_bavail * v.f_frsize;
    mount_of(folder, mount, sizeof mount);
    cli_word(word, sizeof word, mount);
    if (v.f_flag & ST_RDONLY) {
        report_add(r, FOUND_ERROR, "files.read_only",
                   "%s is read-only: toed cannot make its socket there", folder);
        report_cure(r, "mount -o remount,rw %s", word);
    } else if (left < SPACE_LEAST) {
        report_add(r, FOUND_ERROR, "files.space", "%s has %llu bytes left", folder, left);
        report_cure(r, "mount -o remount,size=16m %s", word);
    } else if (v.f_files && v.f_favail < FILES_LEAST) {
        report_add(r, FOUND_ERROR, "files.space", "%s has room for %llu more files", folder,
                   (unsigned long long)v.f_favail);
        report_cure(r, "mount -o remount,nr_inodes=65536 %s", word);
    } else {
        report_add(r, FOUND_OK, "files.space", "%s has room for the socket", folder);
    }
}

/* Looks for a file as `toehold run` does. A variable that names a missing file is reported first.
 */
static void check_part(struct report *r, const char *id, const char *file, const char *in_tree,
                       const char *installed, const char *variable)
{
    const char *named = getenv(variable);
    char path[PATH_MAX];

    if (named && *named && access(named, R_OK) != 0) {
        report_add(r, FOUND_ERROR, id, "%s=%s: %s", variable, named, strerror(errno));
        report_cure(r, "unset %s", variable);
    } else if (named && *named) {
        report_add(r, FOUND_OK, id, "%s, named by %s", named, variable);
    } else if (cli_find_beside(file, in_tree, installed, path)) {
        report_add(r, FOUND_OK, id, "%s", path);
    } else {
        report_add(r, FOUND_ERROR, id, "%s is neither next to toehold nor in %s", file, installed);
        report_advice(r, "install Toehold's packages, or build it");
    }
}

void check_files(struct facts *f)
{
    check_folder(f->report, f->socket_path);
    check_part(f->report, "files.preload", "libtoe_preload.so", "../manager/", TOEHOLD_LIBDIR,
               "TOEHOLD_PRELOAD");
}
