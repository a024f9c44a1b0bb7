/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_memory.c - accesses to the program's memory that report a fault instead of ending the
 * program (user_memory.h).
 *
 * A fault costs nothing until it happens: the handler of SIGSEGV recognizes these accesses by their
 * addresses, and that of memcpy() by the return address on the stack, and continues at a label that
 * returns -1. Other machines than x86-64 have plain accesses, and the fault is the program's.
 */
#include <string.h>
#include <ucontext.h>

#include "user_memory.h"

#ifdef __x86_64__

#define STACK_NEAR 65536u

extern TOE_HIDDEN const char tuser_read_at[], tuser_write_at[], tuser_copied[],
    tuser_touch_failed[], tuser_copy_failed[];

/* memcpy() is called with the stack as at its own entry: the handler finds the return address on
 * its top, as no memcpy() of the C library moves the stack pointer. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type tuser_read, @function\n"
        ".hidden tuser_read\n"
        ".globl tuser_read\n"
        "tuser_read:\n"
        "tuser_read_at:\n"
        "    movb (%rdi), %al\n"
        "    xorl %eax, %eax\n"
        "    ret\n"
        ".size tuser_read, . - tuser_read\n"
        ".type tuser_write, @function\n"
        ".hidden tuser_write\n"
        ".globl tuser_write\n"
        "tuser_write:\n"
        "tuser_write_at:\n"
        "    lock orb $0, (%rdi)\n"
        "    xorl %eax, %eax\n"
        "    ret\n"
        "tuser_touch_failed:\n"
        "    movl $-1, %eax\n"
        "    ret\n"
        ".size tuser_write, . - tuser_write\n"
        ".p2align 4\n"
        ".type tuser_copy, @function\n"
        ".hidden tuser_copy\n"
        ".globl tuser_copy\n"
        "tuser_copy:\n"
        ".cfi_startproc\n"
        "    subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    call memcpy@PLT\n"
        "tuser_copied:\n"
        "    xorl %eax, %eax\n"
        "    addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        ".cfi_adjust_cfa_offset 8\n"
        "tuser_copy_failed:\n"
        "    movl $-1, %eax\n"
        "    addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size tuser_copy, . - tuser_copy\n");

bool tuser_recover(const void *address, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)r[REG_RIP], sp = (uintptr_t)r[REG_RSP], top;

    if (pc == (uintptr_t)tuser_read_at || pc == (uintptr_t)tuser_write_at) {
        r[REG_RIP] = (greg_t)(uintptr_t)tuser_touch_failed;
        return true;
    }
    if ((uintptr_t)address - (sp - STACK_NEAR) < 2 * STACK_NEAR)
        return false; /* the stack has overflowed, and its top cannot be read */
    memcpy(&top, (const void *)sp, sizeof(top));
    if (top != (uintptr_t)tuser_copied)
        return false;
    r[REG_RSP] += (greg_t)sizeof(top);
    r[REG_RIP] = (greg_t)(uintptr_t)tuser_copy_failed;
    return true;
}

#else

int tuser_read(const void *p)
{
    (void)*(const volatile char *)p;
    return 0;
}

int tuser_write(void *p)
{
    (void)p;
    return 0;
}

int tuser_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return 0;
}

bool tuser_recover(const void *address, void *context)
{
    (void)address, (void)context;
    return false;
}

#endif
