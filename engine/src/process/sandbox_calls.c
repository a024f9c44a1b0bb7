/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_calls.c - the system calls that toed may make while it serves, by what needs them
 * (sandbox_calls.h). The most frequent come first: kernels before 5.11 compare in this order.
 * Processors differ in the old calls that they have, hence the #ifdef.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox_calls.h"
#include "sandbox_filter.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

#define ANY(name)                                                                                  \
    {                                                                                              \
        __NR_##name, SANDBOX_ANY, 0                                                                \
    }

const struct sandbox_call sandbox_calls[] = {
    /* frames: AF_XDP, TAP, wire */
    ANY(sendto),
    ANY(recvfrom),
    ANY(readv),
    ANY(writev),
    ANY(recvmsg),
    ANY(sendmsg),
    /* events of engines and of the control thread; sleep */
    ANY(read),
    ANY(write),
    ANY(futex),
    ANY(epoll_pwait),
#ifdef __NR_epoll_wait
    ANY(epoll_wait),
#endif
#ifdef __NR_epoll_pwait2
    ANY(epoll_pwait2),
#endif
    ANY(epoll_ctl),
    ANY(epoll_create1),
#ifdef __NR_poll
    ANY(poll),
#endif
    ANY(ppoll),
    ANY(eventfd2),
    ANY(signalfd4),
    ANY(pipe2),
    ANY(membarrier), /* kernel/host_fence.c */
    /* time: where the vDSO has no clock */
    ANY(clock_gettime),
    ANY(clock_getres),
    ANY(clock_nanosleep),
    ANY(nanosleep),
    ANY(gettimeofday),
    /* memory: never executable. Queue pairs on a NUMA node; register page, take-over image */
    {__NR_mmap, SANDBOX_NO_EXEC, 0},
    {__NR_mprotect, SANDBOX_NO_EXEC, 0},
    ANY(munmap),
    ANY(mremap),
    ANY(madvise),
    ANY(brk),
    ANY(mbind),
    ANY(get_mempolicy),
    ANY(set_mempolicy),
    ANY(memfd_create),
    ANY(ftruncate),
    ANY(fallocate), /* capture_area.c */
    /* threads: of engines and of bound_sockets.c; interrupted writes (spawn_unblock()) */
    {__NR_clone, SANDBOX_THREAD, 0},
    ANY(set_robust_list),
#ifdef __NR_rseq
    ANY(rseq),
#endif
    ANY(gettid),
    ANY(getpid),
    {__NR_tgkill, SANDBOX_SELF, 0},
    ANY(sched_yield),
    ANY(sched_getaffinity),
    ANY(sched_setaffinity),
    ANY(getcpu),
    ANY(rt_sigprocmask),
    ANY(rt_sigaction),
    ANY(rt_sigreturn),
    ANY(sigaltstack),
    ANY(restart_syscall),
    {__NR_prctl, SANDBOX_CONTROL, 0},
    ANY(exit),
    ANY(exit_group),
    /* files: /proc/PID/stat of owners, /proc/sys of port ranges, /sys of NUMA nodes, the reopening
     * of the interface after a refused take-over, the removal of the socket's file */
    ANY(openat),
#ifdef __NR_open
    ANY(open),
#endif
    ANY(close),
    ANY(fstat),
    ANY(newfstatat),
#ifdef __NR_statx
    ANY(statx),
#endif
    ANY(fstatfs),
    ANY(lseek),
    ANY(pread64),
    ANY(getdents64),
    ANY(readlinkat),
#ifdef __NR_readlink
    ANY(readlink),
#endif
#ifdef __NR_access
    ANY(access),
#endif
    ANY(faccessat),
#ifdef __NR_faccessat2
    ANY(faccessat2),
#endif
    ANY(fcntl),
    ANY(dup),
    ANY(flock),
    ANY(unlinkat),
#ifdef __NR_unlink
    ANY(unlink),
#endif
    {__NR_ioctl, SANDBOX_REQUEST, 0},
    /* sockets: programs that attach, rtnetlink, ports held in the kernel, other ends of a wire */
    {__NR_socket, SANDBOX_FAMILY, 0},
    ANY(accept4),
    ANY(bind),
    ANY(listen),
    ANY(connect),
    ANY(shutdown),
    ANY(getsockname),
    ANY(getpeername),
    ANY(getsockopt),
    ANY(setsockopt),
    /* programs: their end, the one that does not let go after a refused take-over */
    ANY(pidfd_open),
    ANY(pidfd_send_signal),
    {__NR_pidfd_getfd, SANDBOX_ANY, SANDBOX_SHARED},
    /* this process and machine */
    ANY(getuid),
    ANY(geteuid),
    ANY(getgid),
    ANY(getegid),
    ANY(capget), /* messages about a missing capability */
    ANY(getrandom),
    ANY(uname),
    ANY(sysinfo),
    {__NR_prlimit64, SANDBOX_SELF_0, 0},
    /* XDP program and maps: IPv6 addresses and ports to steer, reattaching */
    {__NR_bpf, SANDBOX_ANY, SANDBOX_XDP},
    /* Sanitizers: leaks are searched by a process that traces this one; reports map files and
     * symbols. */
    {__NR_clone, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_mmap, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_mprotect, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_prctl, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_ptrace, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_wait4, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_personality, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_getppid, SANDBOX_ANY, SANDBOX_SANITIZER},
#ifdef __NR_getdents
    {__NR_getdents, SANDBOX_ANY, SANDBOX_SANITIZER},
#endif
    {__NR_kill, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_tgkill, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_sched_getparam, SANDBOX_ANY, SANDBOX_SANITIZER},
    {__NR_setrlimit, SANDBOX_ANY, SANDBOX_SANITIZER},
#ifdef __NR_getrlimit
    {__NR_getrlimit, SANDBOX_ANY, SANDBOX_SANITIZER},
#endif
    {__NR_mincore, SANDBOX_ANY, SANDBOX_SANITIZER},
};

const struct sandbox_value sandbox_families[] = {
    {AF_UNIX, 0},             /* programs, sd_notify(3) */
    {AF_INET, 0},             /* interface requests, ports held in the kernel */
    {AF_INET6, 0},            /* the same */
    {AF_NETLINK, 0},          /* interface, addresses, routes, neighbours */
    {AF_XDP, SANDBOX_XDP},    /* after a refused take-over */
    {AF_PACKET, SANDBOX_XDP}, /* the same: copies of ARP frames (netio/src/groups.c) */
};

/* Requests of ioctl(2). Not TIOCSTI and the like: an interactive shell must stay out of reach. */
const struct sandbox_value sandbox_requests[] = {
    {SIOCGIFINDEX, 0},
    {SIOCGIFNAME, 0},
    {SIOCGIFFLAGS, 0},
    {SIOCSIFFLAGS, 0}, /* sets the interface up */
    {SIOCGIFHWADDR, 0},
    {SIOCGIFMTU, 0},
    {SIOCSIFADDR, 0}, /* tap:...,host= */
    {SIOCSIFNETMASK, 0},
    {SIOCETHTOOL, 0},
    {SIOCGSKNS, SANDBOX_SHARED}, /* the network namespace of a program's socket */
    {TUNSETIFF, 0},
    {TUNSETOFFLOAD, 0},
    {FIONREAD, 0},
    {TCGETS, 0},     /* stdio: is it a terminal? */
    {TIOCGWINSZ, 0}, /* a sanitizer's report */
};

const struct sandbox_value sandbox_controls[] = {
    {PR_SET_NAME, 0},       /* of threads */
    {PR_SET_VMA, 0},        /* the C library names its mappings */
    {PR_SET_TIMERSLACK, 0}, /* how precisely they sleep */
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const unsigned sandbox_call_count = COUNT(sandbox_calls);
const unsigned sandbox_family_count = COUNT(sandbox_families);
const unsigned sandbox_request_count = COUNT(sandbox_requests);
const unsigned sandbox_control_count = COUNT(sandbox_controls);

/* process_mrelease(2), Linux 5.15; its number is the same on all processors. */
const uint32_t sandbox_last_call = 448;
