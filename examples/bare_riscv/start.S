/* SPDX-License-Identifier: Apache-2.0 */
/* start.S - from reset to main(): one hart, machine mode, a stack, zeroed memory. */
    .section .text.start
    .globl _start
_start:
    csrr t0, mhartid
    bnez t0, halt
    la sp, stack_top
    la t0, trapped
    csrw mtvec, t0
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
halt:
    wfi
    j halt

    .balign 4
trapped: /* no exception is expected: print it and power off */
    la sp, stack_top
    csrr a0, mcause
    csrr a1, mepc
    call board_trapped
    j halt
