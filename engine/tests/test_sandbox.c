/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sandbox.c - the filter of system calls: the program is interpreted for every number, and the
 * kernel runs it in a child that tries what an intruder would.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/sandbox_calls.h"
#include "process/sandbox_filter.h"

#define PID         4242u
#define NEW         (SECCOMP_RET_ERRNO | ENOSYS)
#define REFUSED     (SECCOMP_RET_ERRNO | EPERM)
#define ALLOWED     SECCOMP_RET_ALLOW
#define ALL         (SANDBOX_XDP | SANDBOX_SHARED)
#define LAST_OF_ALL 1023

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

static struct sock_filter program[SANDBOX_MOST];
static unsigned length;

static void write_for(uint32_t needs)
{
    length = sandbox_write(needs, PID, program, SANDBOX_MOST);
    assert_true(length > 0);
}

/* ---- an interpreter ---- */

/* Runs the program as the kernel does. Fails on anything that its checker would not accept. */
static uint32_t verdict_on(const struct seccomp_data *d)
{
    uint32_t a = 0;
    unsigned at = 0;

    for (;;) {
        const struct sock_filter *f = &program[at++];
        int yes = 0;

        assert_true(at <= length);
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(f->k % 4 == 0 && f->k <= sizeof(*d) - 4);
            memcpy(&a, (const char *)d + f->k, 4);
            continue;
        case BPF_RET | BPF_K:
            return f->k;
        case BPF_JMP | BPF_K | BPF_JEQ:
            yes = a == f->k;
            break;
        case BPF_JMP | BPF_K | BPF_JGT:
            yes = a > f->k;
            break;
        case BPF_JMP | BPF_K | BPF_JGE:
            yes = a >= f->k;
            break;
        case BPF_JMP | BPF_K | BPF_JSET:
            yes = (a & f->k) != 0;
            break;
        default:
            fail_msg("instruction %u has code %#x", at - 1, f->code);
        }
        at += yes ? f->jt : f->jf;
    }
}

static uint32_t verdict(uint32_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
    struct seccomp_data d = {.nr = (int)nr, .arch = ARCH, .args = {arg0, arg1, arg2}};

    return verdict_on(&d);
}

/* ---- every number ---- */

static int is_listed(uint32_t nr, uint32_t needs, int conditional)
{
    unsigned i;

    for (i = 0; i < sandbox_call_count; i++)
        if (sandbox_calls[i].nr == nr && !(sandbox_calls[i].needs & ~needs) &&
            (sandbox_calls[i].check != SANDBOX_ANY) == conditional)
            return 1;
    return 0;
}

/* Calls of which the table allows every use are allowed with any arguments, others with none of
 * these arguments, which no check accepts; all that is not in the table is refused. */
static void each_number(uint32_t needs)
{
    const uint64_t none =
        0xdeadbeef & ~0x00010000u; /* no thread, family, pid, request; PROT_EXEC */
    uint32_t nr, want;
    unsigned allowed = 0;

    write_for(needs);
    for (nr = 0; nr <= LAST_OF_ALL; nr++) {
        want = is_listed(nr, needs, 0)                       ? ALLOWED
               : nr == __NR_clone3 || nr > sandbox_last_call ? NEW
                                                             : REFUSED;
        assert_int_equal(verdict(nr, none, none, none), want);
        assert_int_equal(verdict(nr, ~0ull & ~0x00010000u, ~0ull, ~0ull), want);
        allowed += want == ALLOWED;
    }
    assert_in_range(allowed, 80, 110); /* 450 exist: who widens the table sees this */
}

static void test_every_number(void **state)
{
    (void)state;
    each_number(0);
    each_number(SANDBOX_XDP);
    each_number(SANDBOX_XDP | SANDBOX_SHARED);
}

/* What an intruder uses, by name: none of these may appear in the table. */
static const uint32_t dangerous[] = {
    __NR_execve,
    __NR_execveat,
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_unshare,
    __NR_setns,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_kexec_load,
    __NR_reboot,
    __NR_setuid,
    __NR_setgid,
    __NR_setresuid,
    __NR_setgroups,
    __NR_capset,
    __NR_fchmodat,
    __NR_fchownat,
    __NR_renameat2,
    __NR_symlinkat,
    __NR_linkat,
    __NR_mkdirat,
    __NR_mknodat,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_keyctl,
    __NR_add_key,
    __NR_personality,
    __NR_kill,
    __NR_tkill,
    __NR_rt_sigqueueinfo,
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_swapon,
    __NR_acct,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_sethostname,
    __NR_quotactl,
    __NR_open_by_handle_at,
    __NR_seccomp,
    __NR_memfd_secret,
    __NR_move_pages,
    __NR_migrate_pages,
    __NR_sched_setscheduler,
    __NR_truncate,
    __NR_setxattr,
#ifdef __NR_fork
    __NR_fork,
    __NR_vfork,
    __NR_chmod,
    __NR_chown,
    __NR_rename,
    __NR_symlink,
    __NR_link,
    __NR_mkdir,
    __NR_creat,
#endif
#ifdef __x86_64__
    __NR_iopl,
    __NR_ioperm,
    __NR_modify_ldt,
    __NR_arch_prctl,
#endif
};

static void test_what_an_intruder_uses(void **state)
{
    unsigned i;

    (void)state;
    write_for(ALL);
    for (i = 0; i < sizeof(dangerous) / sizeof(dangerous[0]); i++)
        assert_int_equal(verdict(dangerous[i], 0, 0, 0), REFUSED);
}

static void test_needs(void **state)
{
    (void)state;
    write_for(0);
    assert_int_equal(verdict(__NR_bpf, 0, 0, 0), REFUSED);
    assert_int_equal(verdict(__NR_socket, 44 /* AF_XDP */, 0, 0), REFUSED);
    assert_int_equal(verdict(__NR_socket, AF_PACKET, 0, 0), REFUSED);
    assert_int_equal(verdict(__NR_pidfd_getfd, 0, 0, 0), REFUSED);
    write_for(SANDBOX_XDP);
    assert_int_equal(verdict(__NR_bpf, 0, 0, 0), ALLOWED);
    assert_int_equal(verdict(__NR_socket, 44, 0, 0), ALLOWED);
    assert_int_equal(verdict(__NR_pidfd_getfd, 0, 0, 0), REFUSED);
    write_for(ALL);
    assert_int_equal(verdict(__NR_pidfd_getfd, 0, 0, 0), ALLOWED);
    write_for(SANDBOX_SANITIZER);
    assert_int_equal(verdict(__NR_ptrace, 0, 0, 0), ALLOWED);
    assert_int_equal(verdict(__NR_clone, SIGCHLD, 0, 0), ALLOWED);
    assert_int_equal(verdict(__NR_mmap, 0, 0, PROT_EXEC), ALLOWED);
    assert_int_equal(verdict(__NR_execve, 0, 0, 0), REFUSED);
}

static void test_arguments(void **state)
{
    static const struct {
        uint32_t nr, want;
        uint64_t arg[3];
    } cases[] = {
        {__NR_mmap, ALLOWED, {0, 0, PROT_READ | PROT_WRITE}},
        {__NR_mmap, REFUSED, {0, 0, PROT_READ | PROT_EXEC}},
        {__NR_mmap, REFUSED, {0, 0, PROT_EXEC}},
        {__NR_mprotect, ALLOWED, {0, 0, PROT_READ}},
        {__NR_mprotect, REFUSED, {0, 0, PROT_READ | PROT_EXEC}},
        {__NR_clone, ALLOWED, {CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, 0}},
        {__NR_clone, REFUSED, {CLONE_VM | CLONE_SIGHAND, 0, 0}},
        {__NR_clone, REFUSED, {SIGCHLD, 0, 0}},
        {__NR_tgkill, ALLOWED, {PID, PID, SIGUSR1}},
        {__NR_tgkill, REFUSED, {PID + 1, PID, SIGUSR1}},
        {__NR_tgkill, REFUSED, {0, PID, SIGUSR1}},
        {__NR_prlimit64, ALLOWED, {0, 0, 0}},
        {__NR_prlimit64, ALLOWED, {PID, 0, 0}},
        {__NR_prlimit64, REFUSED, {1, 0, 0}},
        {__NR_socket, ALLOWED, {AF_UNIX, 0, 0}},
        {__NR_socket, ALLOWED, {AF_INET, 0, 0}},
        {__NR_socket, ALLOWED, {AF_NETLINK, 0, 0}},
        {__NR_socket, ALLOWED, {AF_PACKET, 0, 0}},
        {__NR_socket, REFUSED, {AF_VSOCK, 0, 0}},
        {__NR_socket, REFUSED, {0x100000000u | AF_VSOCK, 0, 0}},
        {__NR_ioctl, ALLOWED, {0, TCGETS, 0}},
        {__NR_ioctl, REFUSED, {0, TIOCSTI, 0}},
        {__NR_ioctl, REFUSED, {0, 0x541c /* TIOCLINUX */, 0}},
        {__NR_ioctl, REFUSED, {0, 0x100000000u | TIOCSTI, 0}},
        {__NR_prctl, ALLOWED, {PR_SET_NAME, 0, 0}},
        {__NR_prctl, ALLOWED, {PR_SET_TIMERSLACK, 1000, 0}},
        {__NR_prctl, REFUSED, {PR_SET_DUMPABLE, 0, 0}},
        {__NR_prctl, REFUSED, {PR_CAP_AMBIENT, 0, 0}},
    };
    unsigned i;

    (void)state;
    write_for(ALL);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t got = verdict(cases[i].nr, cases[i].arg[0], cases[i].arg[1], cases[i].arg[2]);

        if (got != cases[i].want)
            fail_msg("case %u: verdict %#x", i, got);
    }
}

/* Numbers of another ABI mean other calls: 11 is execve(2) of i386, munmap(2) of x86-64. */
static void test_other_abis(void **state)
{
    struct seccomp_data d = {.nr = __NR_read, .arch = AUDIT_ARCH_I386};

    (void)state;
    write_for(ALL);
    assert_int_equal(verdict_on(&d), REFUSED);
    d.arch = ARCH;
    assert_int_equal(verdict_on(&d), ALLOWED);
#ifdef __x86_64__
    d.nr |= 0x40000000; /* x32 */
    assert_int_equal(verdict_on(&d), REFUSED);
#endif
    d.nr = -1; /* the number that a tracer sets to skip a call */
    assert_int_not_equal(verdict_on(&d), ALLOWED);
}

static void test_room(void **state)
{
    struct sock_filter guarded[SANDBOX_MOST + 1];
    unsigned room;

    (void)state;
    write_for(ALL | SANDBOX_SANITIZER);
    assert_true(length < SANDBOX_MOST);
    for (room = 0; room < length; room++) {
        memset(guarded, 0xa5, sizeof(guarded));
        assert_int_equal(sandbox_write(ALL | SANDBOX_SANITIZER, PID, guarded, room), 0);
        assert_int_equal(guarded[room].code, 0xa5a5);
    }
    assert_int_equal(sandbox_write(ALL | SANDBOX_SANITIZER, PID, guarded, length), length);
}

/* ---- in the kernel ---- */

static void install(uint32_t needs)
{
    struct sock_fprog p = {.filter = program};

    p.len = (unsigned short)sandbox_write(needs, (uint32_t)getpid(), program, SANDBOX_MOST);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
        _exit(100);
}

#define REFUSES(call)                                                                              \
    do {                                                                                           \
        errno = 0;                                                                                 \
        if ((long)(call) != -1 || errno != EPERM)                                                  \
            _exit(__LINE__ % 100 + 1);                                                             \
    } while (0)

static void *count(void *arg)
{
    ++*(int *)arg;
    return NULL;
}

/* Tries them; the exit code is that of the line that went wrong. */
static void intrude(void)
{
    char *const argv[] = {"/bin/true", NULL};
    pthread_t thread;
    int counted = 0, fd;

    install(0);
    REFUSES(execve("/bin/true", argv, NULL));
    REFUSES(syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, NULL, 0));
    REFUSES(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    REFUSES(mount("none", "/tmp", "tmpfs", 0, NULL));
    REFUSES(syscall(SYS_unshare, CLONE_NEWUSER));
    REFUSES(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    REFUSES(socket(AF_PACKET, SOCK_RAW, 0));
    REFUSES(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REFUSES(syscall(SYS_bpf, 0, NULL, 0));
    REFUSES(kill(getpid(), 0));
    REFUSES(syscall(SYS_setresuid, 0, 0, 0));
    /* what toed does still works: threads, files, descriptors */
    if (pthread_create(&thread, NULL, count, &counted) != 0 || pthread_join(thread, NULL) != 0 ||
        counted != 1)
        _exit(101);
    fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || close(fd) != 0)
        _exit(102);
    _exit(0);
}

static void test_the_kernel_refuses(void **state)
{
    int status = 0;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0)
        intrude();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_what_an_intruder_uses),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_other_abis),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_the_kernel_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
