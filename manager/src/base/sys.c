/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sys.c - sys_call(): sys_call(2) under a name that libtoe_preload.so does not take. The C
 * library's sys_call() is one of the names that the preload library defines, so libtoe may not call
 * it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>

#include "libtoe.h"

#if defined(__x86_64__)
/* Shifts the arguments to where the kernel expects them; no C code can know their number. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sys_call\n"
        ".hidden sys_call\n"
        ".type sys_call, @function\n"
        "sys_call:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 1f\n"
        "    ret\n"
        "1:  movq %rax, %rdi\n"
        "    jmp sys_call_failed\n"
        "    .cfi_endproc\n"
        "    .size sys_call, . - sys_call\n");

TOE_HIDDEN long sys_call_failed(long r) __attribute__((used));
long sys_call_failed(long r)
{
    errno = (int)-r;
    return -1;
}
#else
/* The C library's, resolved at the first call, which may precede all constructors. */
long sys_call(long n, ...)
{
    static long (*_Atomic known)(long, ...);
    long (*next)(long, ...) = known;
    long a[6];
    va_list args;

    if (!next) {
        void *found = dlsym(RTLD_NEXT, "syscall");

        if (!found) {
            errno = ENOSYS;
            return -1;
        }
        __builtin_memcpy(&next, &found, sizeof found);
        known = next;
    }
    va_start(args, n);
    for (unsigned i = 0; i < 6; i++) /* as the C library does, which does not know them either */
        a[i] = va_arg(args, long);
    va_end(args);
    return next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif
