/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_socket_file.c - the file of a Unix socket. The attacks are those of the user who owns its
 * directory: before one of the system calls, all entries, or the directory, become links to files
 * of another user. Every call and every kind of link is tried, so that no race is left to chance.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/socket_file.h"

#define SOCKET "toed.sock"

static char folder[64], theirs[80], victims[80]; /* the directory attacked, and the other user's */
static char reason[256];

/* ---- the attack ---- */

enum attack { TO_FILE, TO_DIRECTORY, DIRECTORY_ITSELF, ATTACKS };

static enum attack attack;
static int calls, strike_at = -1; /* -1: no attack */

static void in(char *out, const char *dir, const char *name)
{
    snprintf(out, 512, "%s/%s", dir, name);
}

static void replace(const char *name)
{
    char at[512], moved[512], to[512];

    in(at, theirs, name);
    snprintf(moved, sizeof(moved), "%.100s/moved.%.100s", theirs, name);
    in(to, victims, attack == TO_FILE ? "secret" : ".");
    assert_int_equal(rename(at, moved), 0);
    assert_int_equal(symlink(to, at), 0);
}

static void strike(void)
{
    char moved[512], names[16][256];
    unsigned n = 0;
    struct dirent *e;
    DIR *d;

    if (strike_at < 0 || calls++ != strike_at)
        return;
    if (attack == DIRECTORY_ITSELF) {
        snprintf(moved, sizeof(moved), "%s.moved", theirs);
        assert_int_equal(rename(theirs, moved), 0);
        assert_int_equal(symlink(victims, theirs), 0);
        return;
    }
    d = opendir(theirs);
    while ((e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && n < 16)
            snprintf(names[n++], 256, "%s", e->d_name);
    closedir(d);
    while (n--)
        replace(names[n]);
}

#define WRAP(type, name, declared, passed)                                                         \
    type __real_##name declared;                                                                   \
    type __wrap_##name declared;                                                                   \
    type __wrap_##name declared                                                                    \
    {                                                                                              \
        strike();                                                                                  \
        return __real_##name passed;                                                               \
    }

WRAP(int, mkdir, (const char *p, mode_t m), (p, m))
WRAP(int, mkdirat, (int d, const char *p, mode_t m), (d, p, m))
WRAP(int, bind, (int f, const struct sockaddr *a, socklen_t n), (f, a, n))
WRAP(int, connect, (int f, const struct sockaddr *a, socklen_t n), (f, a, n))
WRAP(int, listen, (int f, int n), (f, n))
WRAP(int, fchownat, (int d, const char *p, uid_t u, gid_t g, int f), (d, p, u, g, f))
WRAP(int, fchmodat, (int d, const char *p, mode_t m, int f), (d, p, m, f))
WRAP(int, fstatat, (int d, const char *p, struct stat *s, int f), (d, p, s, f))
WRAP(int, fstatat64, (int d, const char *p, struct stat *s, int f), (d, p, s, f))
WRAP(int, renameat, (int d, const char *p, int e, const char *q), (d, p, e, q))
WRAP(int, unlinkat, (int d, const char *p, int f), (d, p, f))
WRAP(int, open, (const char *p, int f), (p, f))
WRAP(int, open64, (const char *p, int f), (p, f))
WRAP(int, openat, (int d, const char *p, int f), (d, p, f))
WRAP(int, openat64, (int d, const char *p, int f), (d, p, f))

/* ---- files ---- */

static uid_t other(void)
{
    return geteuid() == 0 ? 65534 : SOCKET_FILE_NO_OWNER;
}

static int unbound(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    return fd;
}

static int listen_in(const char *dir, int fd, struct socket_file *made)
{
    char path[512];

    in(path, dir, SOCKET);
    *made = (struct socket_file){0};
    reason[0] = 0;
    return socket_file_listen(fd, 4, path, other(), SOCKET_FILE_NO_OWNER, made, reason,
                              sizeof(reason));
}

/* Describes all entries of a directory: a line for each, without an order of its own. */
static void describe(const char *dir, char *out, size_t size)
{
    struct dirent **e;
    int n = scandir(dir, &e, NULL, alphasort), i;
    size_t len = 0;

    out[0] = 0;
    for (i = 0; i < n; i++) {
        char path[512];
        struct stat st;

        in(path, dir, e[i]->d_name);
        if (strcmp(e[i]->d_name, "..") != 0 && lstat(path, &st) == 0)
            len += (size_t)snprintf(out + len, size - len, "%s %lu %o %u %u\n", e[i]->d_name,
                                    (unsigned long)st.st_ino, st.st_mode, st.st_uid, st.st_gid);
        free(e[i]);
    }
    free(e);
}

static int setup(void **state)
{
    char path[512];
    int fd;

    (void)state;
    strike_at = -1;
    snprintf(folder, sizeof(folder), "/tmp/toehold-file-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(theirs, sizeof(theirs), "%s/theirs", folder);
    snprintf(victims, sizeof(victims), "%s/victims", folder);
    assert_int_equal(mkdir(victims, 0755), 0);
    in(path, victims, "secret");
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    return chmod(path, 0600);
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    strike_at = -1;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

/* ---- tests ---- */

static void test_owner_mode_and_nothing_else(void **state)
{
    struct socket_file made;
    char path[512], all[2048];
    struct stat st;
    int fd = unbound(), to = unbound();
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    (void)state;
    assert_int_equal(listen_in(theirs, fd, &made), 0); /* creates the directory */
    in(path, theirs, SOCKET);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0660);
    assert_int_equal(st.st_uid, geteuid() == 0 ? 65534 : geteuid());
    assert_true(st.st_ino == made.ino && st.st_dev == made.dev);
    describe(theirs, all, sizeof(all));
    assert_null(strstr(all, "." SOCKET)); /* the private directory is gone */
    snprintf(addr.sun_path, sizeof(addr.sun_path), "%.100s", path);
    assert_int_equal(connect(to, (struct sockaddr *)&addr, sizeof(addr)), 0);
    assert_int_equal(socket_file_remove(path, &made), 0);
    assert_int_not_equal(lstat(path, &st), 0);
    close(to);
    close(fd);
}

static void test_stale_is_replaced_and_anything_else_is_not(void **state)
{
    struct socket_file first, second;
    char path[512];
    int fd = unbound(), fd2 = unbound();
    struct stat st;

    (void)state;
    assert_int_equal(listen_in(theirs, fd, &first), 0);
    assert_int_not_equal(listen_in(theirs, fd2, &second), 0);
    assert_non_null(strstr(reason, "another toed listens there"));
    close(fd);
    assert_int_equal(listen_in(theirs, fd2, &second), 0);
    in(path, theirs, SOCKET);
    assert_int_equal(socket_file_remove(path, &first), 0); /* it is the second's now */
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(socket_file_remove(path, &second), 0);
    assert_int_not_equal(lstat(path, &st), 0);
    close(fd2);
    fd = unbound();
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_not_equal(listen_in(theirs, fd, &first), 0);
    assert_non_null(strstr(reason, "there is something that is no socket"));
    close(fd);
}

static void test_found_after_a_take_over(void **state)
{
    struct socket_file made, found;
    char path[512];
    int fd = unbound();

    (void)state;
    assert_int_equal(listen_in(theirs, fd, &made), 0);
    in(path, theirs, SOCKET);
    socket_file_find(path, &found);
    assert_true(found.ino == made.ino && found.dev == made.dev);
    close(fd); /* a socket without our listener is not ours */
    socket_file_find(path, &found);
    assert_true(found.ino == 0);
}

static void test_paths_that_cannot_be(void **state)
{
    struct socket_file made;
    char deep[128];
    int fd = unbound();

    (void)state;
    snprintf(deep, sizeof(deep), "%s/no/where", folder);
    assert_int_not_equal(listen_in(deep, fd, &made), 0);
    assert_non_null(strstr(reason, "No such file or directory"));
    memset(deep, 'x', sizeof(deep) - 1);
    deep[0] = '/';
    deep[sizeof(deep) - 1] = 0;
    assert_int_not_equal(listen_in(deep, fd, &made), 0);
    assert_non_null(strstr(reason, "longer than a Unix socket can have"));
    close(fd);
}

/* Lets one attack happen before call number strike_at. Returns whether there was such a call. */
static bool attacked(void)
{
    struct socket_file made;
    char before[2048], after[2048], path[512];
    int live = unbound(), fd = unbound(), at = strike_at;

    strike_at = -1;
    assert_int_equal(listen_in(victims, live, &made), 0); /* a running TOE of the other user */
    assert_int_equal(mkdir(theirs, 0755), 0);
    describe(victims, before, sizeof(before));
    strike_at = at;
    calls = 0;
    (void)listen_in(theirs, fd, &made); /* may fail, with a reason */
    in(path, theirs, SOCKET);
    (void)socket_file_remove(path, &made);
    strike_at = -1;
    describe(victims, after, sizeof(after));
    assert_string_equal(after, before);
    close(live);
    close(fd);
    return calls > at;
}

static void test_links_put_in_the_way(void **state)
{
    unsigned n = 0;
    int at;
    bool more;

    for (attack = 0; attack < ATTACKS; attack++)
        for (at = 0, more = true; more; at++, n++) {
            teardown(state);
            setup(state);
            strike_at = at;
            more = attacked();
        }
    assert_true(n > 3 * 12); /* each call was attacked in each way */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_owner_mode_and_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stale_is_replaced_and_anything_else_is_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_found_after_a_take_over, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths_that_cannot_be, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links_put_in_the_way, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
