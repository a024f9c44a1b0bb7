/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.c - no signal is lost before a sleep.
 *
 * On Linux a signal ends a waiting call from the moment the call began (EINTR; signal(7)). In a
 * call of libtoe only the last part is a system call. If a handler ran in the first part, or was
 * deferred (lock.c), the call would still sleep, and a program that checks after EINTR whether to
 * end would never check. So handlers that ran are noted, and a sleep does not begin while there is
 * a note. This holds even for a handler that runs between the check of the note and the system
 * call: tsig_ran() then moves the thread back to the check.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>

#include "interrupt.h"

/* Set since this thread's last tsig_begin() by any handler, and by one without SA_RESTART. */
OF_THREAD volatile sig_atomic_t came, came_to_end;

void tsig_begin(void)
{
    came = came_to_end = 0;
}

const volatile sig_atomic_t *tsig_note(bool restarts)
{
    return restarts ? &came_to_end : &came;
}

/*
 * long tsleep_call(number, arguments 1 to 6, note): the system call, or -EINTR while *note is not
 * zero. A thread whose next instruction is at tsleep_look or after it, and before tsleep_done, has
 * not made the system call yet, and its registers still hold the inputs of tsleep_look.
 */
#if defined(__x86_64__)
#define NEXT_INSTRUCTION(context) ((context)->uc_mcontext.gregs[REG_RIP])
__asm__(".pushsection .text\n"
        ".type tsleep_call, @function\n"
        ".globl tsleep_call, tsleep_look, tsleep_done\n"
        ".hidden tsleep_call, tsleep_look, tsleep_done\n"
        "tsleep_call:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    mov 16(%rsp), %rcx\n"
        "tsleep_look:\n"
        "    cmpl $0, (%rcx)\n"
        "    jne 1f\n"
        "    syscall\n"
        "tsleep_done:\n"
        "    ret\n"
        "1:  mov $-4, %rax\n"
        "    ret\n"
        ".size tsleep_call, . - tsleep_call\n"
        ".popsection\n");
#elif defined(__aarch64__)
#define NEXT_INSTRUCTION(context) ((context)->uc_mcontext.pc)
__asm__(".pushsection .text\n"
        ".type tsleep_call, %function\n"
        ".globl tsleep_call, tsleep_look, tsleep_done\n"
        ".hidden tsleep_call, tsleep_look, tsleep_done\n"
        "tsleep_call:\n"
        "    mov x8, x0\n"
        "    mov x0, x1\n"
        "    mov x1, x2\n"
        "    mov x2, x3\n"
        "    mov x3, x4\n"
        "    mov x4, x5\n"
        "    mov x5, x6\n"
        "tsleep_look:\n"
        "    ldr w9, [x7]\n"
        "    cbnz w9, 1f\n"
        "    svc #0\n"
        "tsleep_done:\n"
        "    ret\n"
        "1:  mov x0, #-4\n"
        "    ret\n"
        ".size tsleep_call, . - tsleep_call\n"
        ".popsection\n");
#endif

#ifdef NEXT_INSTRUCTION
extern const char tsleep_look[], tsleep_done[];
extern long tsleep_call(long number, long a, long b, long c, long d, long e, long f,
                        const volatile sig_atomic_t *note);
_Static_assert(EINTR == 4 && sizeof(sig_atomic_t) == 4, "what tsleep_call() was written for");

static void look_again(ucontext_t *context)
{
    uintptr_t at = (uintptr_t)NEXT_INSTRUCTION(context);

    if (at > (uintptr_t)tsleep_look && at < (uintptr_t)tsleep_done)
        NEXT_INSTRUCTION(context) = (__typeof__(NEXT_INSTRUCTION(context)))(uintptr_t)tsleep_look;
}
#else
/* Other architectures: a signal may be lost in the few instructions between check and call. */
static long tsleep_call(long number, long a, long b, long c, long d, long e, long f,
                        const volatile sig_atomic_t *note)
{
    long r = *note ? -1 : sys_call(number, a, b, c, d, e, f);

    return r < 0 ? -(*note ? EINTR : errno) : r;
}

static void look_again(ucontext_t *context)
{
    (void)context;
}
#endif

void tsig_ran(bool restarts, void *context)
{
    came = 1;
    if (!restarts)
        came_to_end = 1;
    look_again(context);
}

long tsig_sleep(const volatile sig_atomic_t *note, long number, long a, long b, long c, long d,
                long e)
{
    static const volatile sig_atomic_t none;
    long r = tsleep_call(number, a, b, c, d, e, 8, note ? note : &none);

    return r < 0 ? terr((int)-r) : r;
}
