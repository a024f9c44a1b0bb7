/* SPDX-License-Identifier: Apache-2.0 */
/* boot.c - checks what all firmware needs: data and constants, memory, the clock, interrupts. */
#include <stddef.h>

#include "soc.h"

static const char greeting[] = "firmware runs\n";
static uint32_t from_image = 0x12345678;
static uint32_t zeroed[3];
static volatile uint32_t handled;

static void on_interrupt(unsigned n)
{
    soc_raise(0);
    handled |= 1u << n;
}

/* Writes and reads all bytes, halves and words of a place that is not aligned to 8 bytes. */
static void check_memory(void)
{
    static union {
        uint8_t b[8];
        uint16_t h[4];
        uint32_t w[2];
    } m;
    volatile uint8_t *bytes = m.b;
    unsigned i;

    for (i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(i + 1);
    if (*(volatile uint32_t *)&m.w[0] != 0x04030201 || *(volatile uint16_t *)&m.h[3] != 0x0807)
        soc_fail("bytes are not where words have them");
}

static void check_clock(void)
{
    uint64_t before = soc_cycles(), passed;
    unsigned i;

    for (i = 0; i < 100; i++)
        __asm__ volatile("nop");
    passed = soc_cycles() - before;
    if (passed < 100 || passed > 2000)
        soc_fail("the clock does not count cycles");
}

int main(void)
{
    unsigned n;

    soc_print(greeting);
    if (from_image != 0x12345678 || zeroed[0] | zeroed[1] | zeroed[2])
        soc_fail("data is not as the image has it");
    check_memory();
    check_clock();
    soc_interrupts(on_interrupt, 0x7fff);
    for (n = 0; n < 15; n++) {
        unsigned wait = 0;

        soc_raise(1u << n);
        while (!(handled & 1u << n))
            if (++wait > 100)
                soc_fail("a fast interrupt does not arrive");
    }
    if (handled != 0x7fff)
        soc_fail("another fast interrupt than the raised one arrives");
    soc_print("all good\n");
    return 0;
}
