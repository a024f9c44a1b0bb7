/* SPDX-License-Identifier: Apache-2.0 */
/* start.S - from reset to main(): vectors, a stack, data copied from the image, zeroed memory. */
    .section .text.vectors, "ax"
    .option norvc
    /* Ibex's vector table: 32 entries of a jump each, then the reset entry at 0x80. Exceptions use
     * entry 0, fast interrupt n uses entry 16 + n. */
    .rept 16
    j trapped
    .endr
    .rept 15
    j interrupted
    .endr
    j trapped /* non-maskable */
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
    call soc_exit

    .text
    .balign 4
trapped: /* no exception is expected: report it and exit */
    la sp, stack_top
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call soc_trapped

    .balign 4
interrupted: /* saves what a C function may change */
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw t3, 16(sp)
    sw t4, 20(sp)
    sw t5, 24(sp)
    sw t6, 28(sp)
    sw a0, 32(sp)
    sw a1, 36(sp)
    sw a2, 40(sp)
    sw a3, 44(sp)
    sw a4, 48(sp)
    sw a5, 52(sp)
    sw a6, 56(sp)
    sw a7, 60(sp)
    csrr a0, mcause
    andi a0, a0, 31
    addi a0, a0, -16
    call soc_interrupt
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw t3, 16(sp)
    lw t4, 20(sp)
    lw t5, 24(sp)
    lw t6, 28(sp)
    lw a0, 32(sp)
    lw a1, 36(sp)
    lw a2, 40(sp)
    lw a3, 44(sp)
    lw a4, 48(sp)
    lw a5, 52(sp)
    lw a6, 56(sp)
    lw a7, 60(sp)
    addi sp, sp, 64
    mret
