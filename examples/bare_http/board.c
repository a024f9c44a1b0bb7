/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - the devices of board.h, and the functions that compilers call implicitly. */
#include "board.h"

#include <stddef.h>

#include <toe/chip.h>
#include <toe/hyb_regs.h>

#define REG(NAME) (*(volatile uint32_t *)(0x40000000u + offsetof(hyb_regs_t, NAME)))

void board_print(const char *text)
{
    while (*text)
        REG(CONSOLE) = (uint8_t)*text++;
}

void board_print_number(uint32_t n)
{
    char digits[11], *at = digits + sizeof(digits) - 1;

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
    REG(EXIT) = 1;
    for (;;)
        ;
}

/* Called by start.S. */
void board_trapped(uint32_t cause, uint32_t at);
void board_trapped(uint32_t cause, uint32_t at)
{
    board_print("exception ");
    board_print_number(cause);
    board_print(" at ");
    board_print_number(at);
    board_print("\n");
    REG(EXIT) = 1;
}

/* The time in units of 2^20 ns, of which 1.048576 are a millisecond: there is no 64-bit division.
 */
uint32_t board_milliseconds(void)
{
    uint32_t high, low, units;

    do {
        high = TOECHIP_REG(NOW_HIGH);
        low = TOECHIP_REG(NOW_LOW);
    } while (high != TOECHIP_REG(NOW_HIGH));
    units = high << 12 | low >> 20;
    return units + (uint32_t)((uint64_t)units * 208632331u >> 32); /* 0.048576 x 2^32 */
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    uint8_t *to = dst;
    const uint8_t *from = src;

    while (n--)
        *to++ = *from++;
    return dst;
}

void *memset(void *dst, int c, size_t n);
void *memset(void *dst, int c, size_t n)
{
    uint8_t *to = dst;

    while (n--)
        *to++ = (uint8_t)c;
    return dst;
}
