/* SPDX-License-Identifier: Apache-2.0 */
/* start.S - from reset at 0x80 to main(): a stack, data copied from the image, zeroed memory. */
    .section .text.vectors, "ax"
    .option norvc
    .rept 32 /* no interrupt is taken, and no exception expected */
    j trapped
    .endr
    .globl _start
_start:
    .option rvc
    la sp, stack_top
    la t0, data_image
    la t1, data_start
    la t2, data_end
1:  bgeu t1, t2, 2f
    lw t3, 0(t0)
    sw t3, 0(t1)
    addi t0, t0, 4
    addi t1, t1, 4
    j 1b
2:  la t0, bss_start
    la t1, bss_end
3:  bgeu t0, t1, 4f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 3b
4:  call main
halt:
    wfi
    j halt

    .balign 4
trapped:
    la sp, stack_top
    csrr a0, mcause
    csrr a1, mepc
    call board_trapped
    j halt
