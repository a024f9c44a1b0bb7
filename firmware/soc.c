/* SPDX-License-Identifier: Apache-2.0 */
/* soc.c - the devices of hyb_soc (soc.h). */
#include "soc.h"

#include <stddef.h>

#include <toe/hyb_regs.h>

#define REGS ((volatile hyb_regs_t *)0x40000000u)

static void (*on_interrupt)(unsigned n);

void soc_print(const char *text)
{
    while (*text)
        REGS->CONSOLE = (uint8_t)*text++;
}

void soc_print_number(uint32_t n)
{
    char digits[11], *at = digits + sizeof(digits) - 1;

    *at = 0;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    soc_print(at);
}

uint64_t soc_cycles(void)
{
    uint32_t high, low;

    do {
        high = REGS->CYCLES_HIGH;
        low = REGS->CYCLES_LOW;
    } while (high != REGS->CYCLES_HIGH);
    return (uint64_t)high << 32 | low;
}

uint32_t soc_units(void)
{
    uint32_t units = REGS->UNITS;

    return (units & HYB_REGS__UNITS__SEND_bm ? SOC_SEND : 0) |
           (units & HYB_REGS__UNITS__HEADERS_bm ? SOC_HEADERS : 0);
}

void soc_exit(int code)
{
    REGS->EXIT = (uint8_t)code;
    for (;;)
        ;
}

void soc_fail(const char *why)
{
    soc_print("failed: ");
    soc_print(why);
    soc_print("\n");
    soc_exit(1);
}

/* Called by start.S. */
void soc_trapped(uint32_t cause, uint32_t at, uint32_t value);
void soc_trapped(uint32_t cause, uint32_t at, uint32_t value)
{
    soc_print("exception ");
    soc_print_number(cause);
    soc_print(" at ");
    soc_print_number(at);
    soc_print(", value ");
    soc_print_number(value);
    soc_print("\n");
    soc_exit(1);
}

void soc_interrupt(unsigned n);
void soc_interrupt(unsigned n)
{
    on_interrupt(n);
}

void soc_interrupts(void (*handler)(unsigned n), uint32_t mask)
{
    on_interrupt = handler;
    __asm__ volatile("csrw mie, %0\n\tcsrsi mstatus, 8" : : "r"(mask << 16) : "memory");
}

void soc_raise(uint32_t mask)
{
    REGS->RAISE = mask;
}

/* ---- the two functions that compilers call implicitly ----
 * examples/bare_riscv/board.c has its own: the example is one folder to copy, without firmware/. */

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
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

void *memset(void *dst, int c, size_t n);
void *memset(void *dst, int c, size_t n)
{
    uint8_t *to = dst;
    uint32_t word = (uint8_t)c * 0x01010101u;

    if (((uintptr_t)to & 3) == 0)
        for (; n >= 4; n -= 4, to += 4)
            *(uint32_t *)(void *)to = word;
    while (n--)
        *to++ = (uint8_t)c;
    return dst;
}
