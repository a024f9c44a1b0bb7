/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - devices of the machine (board.h). Addresses are those of hw/riscv/virt.c of QEMU, which
 * do not change. */
#include "board.h"

#include <stddef.h>

#define REG8(at)  (*(volatile uint8_t *)(uintptr_t)(at))
#define REG32(at) (*(volatile uint32_t *)(uintptr_t)(at))

#define POWER    0x100000u /* sifive_test */
#define MTIMECMP 0x2004000u
#define MTIME    0x200bff8u
#define PLIC     0xc000000u
#define UART     0x10000000u

#define NS_PER_TICK 100u /* 10 MHz */

void board_print(const char *text)
{
    for (; *text; text++) {
        while (!(REG8(UART + 5) & 0x20)) /* LSR: transmitter empty */
            ;
        REG8(UART) = (uint8_t)*text;
    }
}

void board_print_number(unsigned long n)
{
    char digits[24], *at = digits + sizeof(digits) - 1;

    *at = 0;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    board_print(at);
}

void board_fail(const char *why)
{
    board_print("failed: ");
    board_print(why);
    board_print("\n");
    REG32(POWER) = 0x3333 | 1u << 16;
    for (;;)
        ;
}

void board_trapped(unsigned long cause, unsigned long at);
void board_trapped(unsigned long cause, unsigned long at)
{
    board_print("exception ");
    board_print_number(cause);
    board_print(" at ");
    board_print_number(at);
    board_print("\n");
    board_fail("exception");
}

static uint64_t ticks(void)
{
    uint32_t high, low;

    do {
        high = REG32(MTIME + 4);
        low = REG32(MTIME);
    } while (high != REG32(MTIME + 4));
    return (uint64_t)high << 32 | low;
}

uint64_t board_time(void)
{
    return ticks() * NS_PER_TICK;
}

void board_wake_by(unsigned irq)
{
    REG32(PLIC + 4 * irq) = 1;                             /* priority */
    REG32(PLIC + 0x2000 + irq / 32 * 4) |= 1u << irq % 32; /* enabled for hart 0 */
    REG32(PLIC + 0x200000) = 0;                            /* threshold */
}

/*
 * Interrupts stay off (mstatus.MIE): wfi returns when an interrupt of mie is pending, also if it
 * was pending before, so that none is missed between the last check and the sleep. The deadline is
 * converted to remaining ticks without a 64-bit division; distant deadlines wake early.
 */
void board_sleep(uint64_t until)
{
    uint64_t now = ticks(), left = until - now * NS_PER_TICK, wake;
    uint32_t irq;

    wake = now + (left >> 32 ? 0xffffffffu / NS_PER_TICK : (uint32_t)left / NS_PER_TICK + 1);
    REG32(MTIMECMP + 4) = 0xffffffffu; /* no interrupt between the two writes */
    REG32(MTIMECMP) = (uint32_t)wake;
    REG32(MTIMECMP + 4) = (uint32_t)(wake >> 32);
    __asm__ volatile("csrw mie, %0\n\twfi" : : "r"(1ul << 7 | 1ul << 11) : "memory");
    irq = REG32(PLIC + 0x200004); /* claim */
    if (irq)
        REG32(PLIC + 0x200004) = irq; /* complete; pending again while the device asserts it */
}

/* ---- the two functions that compilers call implicitly ---- */

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    uint8_t *to = dst;
    const uint8_t *from = src;

    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
        for (; n >= 4; n -= 4, to += 4, from += 4)
            *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
    while (n--)
        *to++ = *from++;
    return dst;
}

void *memset(void *dst, int c, size_t n)
{
    uint8_t *to = dst;

    while (n--)
        *to++ = (uint8_t)c;
    return dst;
}
