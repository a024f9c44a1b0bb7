/* SPDX-License-Identifier: Apache-2.0 */
/* test_boot_secret.c - the file of the boot secret, and files that must not be used. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/boot_secret.h"

#define OTHER_USER 65534

static char folder[64], path[96], why[512];
static const uint8_t some[BOOT_SECRET_BYTES + 1] = "sixteen letters.";

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/toehold-secret-XXXXXX");
    why[0] = 0;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/secret", folder);
    return 0;
}

/* Nothing but the secret itself is left. */
static int end(void **state)
{
    (void)state;
    rmdir(path);
    unlink(path);
    return rmdir(folder);
}

static void put(const void *bytes, size_t n, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void rejected(const char *for_what)
{
    uint8_t secret[BOOT_SECRET_BYTES];

    assert_int_equal(boot_secret_read(path, secret, why, sizeof(why)), -1);
    assert_non_null(strstr(why, path));
    if (!strstr(why, for_what))
        fail_msg("\"%s\" does not contain \"%s\"", why, for_what);
}

static void created_once(void **state)
{
    const mode_t mask = umask(0277);
    uint8_t first[BOOT_SECRET_BYTES], second[BOOT_SECRET_BYTES] = {0};
    struct stat st;

    (void)state;
    assert_int_equal(boot_secret_read(path, first, why, sizeof(why)), 0);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);
    assert_int_equal(st.st_size, BOOT_SECRET_BYTES);
    assert_int_equal(boot_secret_read(path, second, why, sizeof(why)), 0);
    assert_memory_equal(first, second, sizeof(first));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(boot_secret_read(path, second, why, sizeof(why)), 0);
    assert_memory_not_equal(first, second, sizeof(first));
}

static void an_existing_one(void **state)
{
    uint8_t secret[BOOT_SECRET_BYTES];

    (void)state;
    put(some, BOOT_SECRET_BYTES, 0600);
    assert_int_equal(boot_secret_read(path, secret, why, sizeof(why)), 0);
    assert_memory_equal(secret, some, sizeof(secret));
}

/* ---- several processes ---- */

/* Before each system call of a first reader, a second one does all of its own. */
static int second_reads, calls, strike_at = -1;
static uint8_t second_got[BOOT_SECRET_BYTES];

static void strike(void)
{
    int at = strike_at;

    if (at < 0 || calls++ != at)
        return;
    strike_at = -1;
    second_reads = boot_secret_read(path, second_got, why, sizeof(why)) == 0;
    strike_at = at;
}

#define WRAP(type, name, declared, passed)                                                         \
    type __real_##name declared;                                                                   \
    type __wrap_##name declared;                                                                   \
    type __wrap_##name declared                                                                    \
    {                                                                                              \
        strike();                                                                                  \
        return __real_##name passed;                                                               \
    }

WRAP(int, open, (const char *p, int f, mode_t m), (p, f, m))
WRAP(int, open64, (const char *p, int f, mode_t m), (p, f, m))
WRAP(int, fchmod, (int f, mode_t m), (f, m))
WRAP(int, fstat, (int f, struct stat *s), (f, s))
WRAP(int, fstat64, (int f, struct stat *s), (f, s))
WRAP(ssize_t, read, (int f, void *b, size_t n), (f, b, n))
WRAP(ssize_t, write, (int f, const void *b, size_t n), (f, b, n))
WRAP(int, link, (const char *p, const char *q), (p, q))
WRAP(int, renameat2, (int d, const char *p, int e, const char *q, unsigned f), (d, p, e, q, f))
WRAP(int, unlink, (const char *p), (p))
WRAP(int, close, (int f), (f))

/* Wherever the second one comes in between, both have the same secret. */
static void created_by_two(void **state)
{
    uint8_t first[BOOT_SECRET_BYTES];
    int at = 0;

    (void)state;
    do {
        second_reads = calls = 0;
        strike_at = at;
        if (boot_secret_read(path, first, why, sizeof(why)) != 0)
            fail_msg("the first, before call %d: %s", at, why);
        strike_at = -1;
        if (calls > at && !second_reads)
            fail_msg("the second, before call %d: %s", at, why);
        if (calls > at)
            assert_memory_equal(first, second_got, sizeof(first));
        assert_int_equal(unlink(path), 0);
    } while (at++ < calls);
    assert_true(at > 10); /* every call of those that create it */
}

#define AT_ONCE 8

/* All that begin at once have the secret of one. */
static void created_by_several(void **state)
{
    uint8_t(*got)[BOOT_SECRET_BYTES] =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int i, start[2], status;
    char byte;

    (void)state;
    assert_true(got != MAP_FAILED);
    assert_int_equal(pipe(start), 0);
    for (i = 0; i < AT_ONCE; i++) {
        if (fork() == 0) {
            close(start[1]);
            (void)!read(start[0], &byte, 1); /* ends when the parent closes its end */
            _exit(boot_secret_read(path, got[i], why, sizeof(why)) != 0);
        }
    }
    close(start[0]);
    close(start[1]);
    for (i = 0; i < AT_ONCE; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (i = 1; i < AT_ONCE; i++)
        assert_memory_equal(got[0], got[i], BOOT_SECRET_BYTES);
    munmap(got, 4096);
}

static void of_another_user(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    put(some, BOOT_SECRET_BYTES, 0600);
    assert_int_equal(chown(path, OTHER_USER, (gid_t)-1), 0);
    rejected("another user");
}

static void of_other_modes(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0660, 0606, 0644, 0700, 0400, 04600};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        put(some, BOOT_SECRET_BYTES, modes[i]);
        rejected("0600");
        assert_int_equal(unlink(path), 0);
    }
}

static void of_other_sizes(void **state)
{
    static const size_t sizes[] = {0, BOOT_SECRET_BYTES - 1, BOOT_SECRET_BYTES + 1};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put(some, sizes[i], 0600);
        rejected("size");
        assert_int_equal(unlink(path), 0);
    }
}

static void of_zeros(void **state)
{
    static const uint8_t zeros[BOOT_SECRET_BYTES];

    (void)state;
    put(zeros, sizeof(zeros), 0600);
    rejected("zeros");
}

/* Also where the link leads to a sound file, or to none. */
static void symbolic_links(void **state)
{
    char target[128];

    (void)state;
    snprintf(target, sizeof(target), "%s/target", folder);
    assert_int_equal(symlink(target, path), 0);
    rejected("symbolic link");
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(unlink(path), 0);
    put(some, BOOT_SECRET_BYTES, 0600);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    rejected("symbolic link");
    assert_int_equal(unlink(target), 0);
}

static void hard_links(void **state)
{
    char other[128];

    (void)state;
    snprintf(other, sizeof(other), "%s/other", folder);
    put(some, BOOT_SECRET_BYTES, 0600);
    assert_int_equal(link(path, other), 0);
    rejected("hard links");
    assert_int_equal(unlink(other), 0);
}

static void no_files(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path, 0600), 0);
    rejected("regular file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* which has no writer */
    rejected("regular file");
}

static void no_directory(void **state)
{
    uint8_t secret[BOOT_SECRET_BYTES];
    char deep[128], far[300];

    (void)state;
    snprintf(deep, sizeof(deep), "%s/none/secret", folder);
    assert_int_equal(boot_secret_read(deep, secret, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "No such file"));
    memset(far, 'x', sizeof(far) - 1);
    far[sizeof(far) - 1] = 0;
    assert_int_equal(boot_secret_read(far, secret, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "too long"));
}

static void paths_of_users(void **state)
{
    char at[64];

    (void)state;
    boot_secret_path(0, at, sizeof(at));
    assert_string_equal(at, "/run/toehold.secret");
    boot_secret_path(1000, at, sizeof(at));
    assert_string_equal(at, "/run/user/1000/toehold.secret");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(created_once),
        TEST(an_existing_one),
        TEST(created_by_several),
        TEST(created_by_two),
        TEST(of_another_user),
        TEST(of_other_modes),
        TEST(of_other_sizes),
        TEST(of_zeros),
        TEST(symbolic_links),
        TEST(hard_links),
        TEST(no_files),
        TEST(no_directory),
        cmocka_unit_test(paths_of_users),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
