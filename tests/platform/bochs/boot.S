/* SPDX-License-Identifier: MIT
 * tests/platform/bochs/boot.S -- from a disk of an emulated PC into 64-bit code, on one processor and then on a second
 *
 * The first sector loads the rest. Both processors go the same way: real mode, page tables that map the first 4 GiB to
 * themselves, long mode, C++. The second one is started at 0x8000, where its way begins.
 */
        .code16
        .section .boot, "ax"
        .globl boot
boot:   cli
        xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw %ax, %ss
        movw $0x7c00, %sp
        movw $packet, %si
        movb $0x42, %ah                 /* the BIOS reads what the packet says, from the disk in %dl */
        int $0x13
        jc failed
        ljmp $0, $start
failed: hlt
        jmp failed
        .align 4
packet: .byte 16, 0
        .word 63                        /* sectors */
        .word 0x8000, 0                 /* to */
        .quad 1                         /* from the second on */
        .org 510
        .word 0xaa55

        .section .start, "ax"
        .globl start
start:  cli
        xorw %ax, %ax
        movw %ax, %ds
        lgdtl table_of_segments
        movl $page_tables, %edi
        movl %edi, %cr3
        movl $0x20, %eax                /* PAE */
        movl %eax, %cr4
        movl $0xc0000080, %ecx          /* EFER.LME */
        rdmsr
        orl $0x100, %eax
        wrmsr
        movl $0x80000001, %eax          /* paging, protection */
        movl %eax, %cr0
        ljmpl $8, $in_long_mode

        .code64
in_long_mode:
        movw $16, %ax
        movw %ax, %ds
        movw %ax, %es
        movw %ax, %ss
        movl $1, %eax                   /* the first to come takes the first stack */
        lock xaddl %eax, came(%rip)
        movl %eax, %edi
        shll $14, %eax
        leaq stacks+0x4000(%rip), %rsp
        addq %rax, %rsp
        movq %cr0, %rax
        andq $~4, %rax                  /* SSE: compilers use it */
        orq $2, %rax
        movq %rax, %cr0
        movq %cr4, %rax
        orq $0x600, %rax
        movq %rax, %cr4
        call processor_main
halt:   hlt
        jmp halt

        .align 8
segments:
        .quad 0, 0x00209a0000000000, 0x0000920000000000
table_of_segments:
        .word 23
        .long segments
        .align 4
came:   .long 0

        .section .tables, "aw"
        .align 4096
page_tables:
        .quad pointers + 3
        .fill 511, 8, 0
pointers:
        .set at, 0
        .rept 4
        .quad directories + at + 3
        .set at, at + 4096
        .endr
        .fill 508, 8, 0
directories:
        .set at, 0
        .rept 2048                      /* 2 MiB each; the devices above 3 GiB as well */
        .quad at + 0x83
        .set at, at + 0x200000
        .endr

        .section .stacks, "aw", @nobits
        .align 16
stacks: .skip 0x8000
