/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_filter.c - see sandbox_filter.h; seccomp(2). The program compares one call after the
 * other; each comparison is followed by its verdict, so that no jump is longer than a list of
 * values. Since Linux 5.11 the kernel remembers the verdict of calls whose arguments do not matter.
 */
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>

#include "sandbox_calls.h"
#include "sandbox_filter.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#define X32_BIT  0x40000000u /* calls of the x32 ABI, whose numbers the table does not know */
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#define CLONE_THREAD_FLAG 0x00010000u               /* CLONE_THREAD of linux/sched.h */
#define REFUSED           (SECCOMP_RET_ERRNO | 1u)  /* EPERM */
#define UNKNOWN           (SECCOMP_RET_ERRNO | 38u) /* ENOSYS */

#ifdef OUR_ARCH

struct writer {
    struct sock_filter *out;
    unsigned count, room;
    uint32_t needs, pid;
};

static void put(struct writer *w, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    if (w->count < w->room)
        w->out[w->count] = (struct sock_filter){code, yes, no, k};
    w->count++;
}

static void give(struct writer *w, uint32_t verdict)
{
    put(w, BPF_RET | BPF_K, verdict, 0, 0);
}

static void load(struct writer *w, size_t offset)
{
    put(w, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The lower half, the only one that the kernel reads of the arguments that are checked. */
static void load_argument(struct writer *w, unsigned n)
{
    load(w, offsetof(struct seccomp_data, args) + n * sizeof(uint64_t));
}

/* Gives the verdict if the loaded value compares so, else continues. */
static void give_if(struct writer *w, uint16_t compare, uint32_t value, uint32_t verdict)
{
    put(w, BPF_JMP | BPF_K | compare, value, 0, 1);
    give(w, verdict);
}

static int is_needed(const struct writer *w, uint8_t needs)
{
    return (needs & ~w->needs) == 0;
}

static void put_list(struct writer *w, unsigned argument, const struct sandbox_value *v,
                     unsigned count)
{
    unsigned i;

    load_argument(w, argument);
    for (i = 0; i < count; i++)
        if (is_needed(w, v[i].needs))
            give_if(w, BPF_JEQ, v[i].value, SECCOMP_RET_ALLOW);
    give(w, REFUSED);
}

/* The verdict on a call whose number has been found, by its arguments. */
static void put_check(struct writer *w, uint8_t check)
{
    switch (check) {
    case SANDBOX_NO_EXEC:
        load_argument(w, 2);
        give_if(w, BPF_JSET, PROT_EXEC, REFUSED);
        break;
    case SANDBOX_THREAD:
        load_argument(w, 0);
        give_if(w, BPF_JSET, CLONE_THREAD_FLAG, SECCOMP_RET_ALLOW);
        give(w, REFUSED);
        return;
    case SANDBOX_SELF:
    case SANDBOX_SELF_0:
        load_argument(w, 0);
        give_if(w, BPF_JEQ, w->pid, SECCOMP_RET_ALLOW);
        if (check == SANDBOX_SELF_0)
            give_if(w, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
        give(w, REFUSED);
        return;
    case SANDBOX_FAMILY:
        put_list(w, 0, sandbox_families, sandbox_family_count);
        return;
    case SANDBOX_REQUEST:
        put_list(w, 1, sandbox_requests, sandbox_request_count);
        return;
    case SANDBOX_CONTROL:
        put_list(w, 0, sandbox_controls, sandbox_control_count);
        return;
    default: /* SANDBOX_ANY */
        break;
    }
    give(w, SECCOMP_RET_ALLOW);
}

/* One call: if it is another, the comparison jumps over the verdict. */
static void put_call(struct writer *w, const struct sandbox_call *c)
{
    unsigned at = w->count, length;

    put(w, BPF_JMP | BPF_K | BPF_JEQ, c->nr, 0, 0);
    put_check(w, c->check);
    length = w->count - at - 1;
    if (length > 255) /* beyond what a jump can reach: sandbox_write() gives up */
        w->count = w->room + 1;
    else if (at < w->room)
        w->out[at].jf = (uint8_t)length;
}

/* Whether a later entry allows more of the same call. */
static int is_widened(const struct writer *w, unsigned at)
{
    unsigned i;

    for (i = at + 1; i < sandbox_call_count; i++)
        if (sandbox_calls[i].nr == sandbox_calls[at].nr && is_needed(w, sandbox_calls[i].needs))
            return 1;
    return 0;
}

unsigned sandbox_write(uint32_t needs, uint32_t pid, struct sock_filter *out, unsigned room)
{
    struct writer w = {.out = out, .room = room, .needs = needs, .pid = pid};
    unsigned i;

    load(&w, offsetof(struct seccomp_data, arch));
    put(&w, BPF_JMP | BPF_K | BPF_JEQ, OUR_ARCH, 1, 0); /* not int 0x80, whose numbers differ */
    give(&w, REFUSED);
    load(&w, offsetof(struct seccomp_data, nr));
#ifdef X32_BIT
    give_if(&w, BPF_JGE, X32_BIT, REFUSED);
#endif
    for (i = 0; i < sandbox_call_count; i++)
        if (is_needed(&w, sandbox_calls[i].needs) && !is_widened(&w, i))
            put_call(&w, &sandbox_calls[i]);
#ifdef __NR_clone3
    give_if(&w, BPF_JEQ, __NR_clone3, UNKNOWN); /* its flags are in memory: clone(2) is used */
#endif
    give_if(&w, BPF_JGT, sandbox_last_call, UNKNOWN);
    give(&w, REFUSED);
    return w.count <= room ? w.count : 0;
}

#else

unsigned sandbox_write(uint32_t needs, uint32_t pid, struct sock_filter *out, unsigned room)
{
    (void)needs;
    (void)pid;
    (void)out;
    (void)room;
    return 0;
}

#endif
