/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar.h - a window of registers, wherever it is had from: one bar_*.c for each kind. Registers are
 * 32 bits wide and little endian; each access is one of 32 bits.
 *
 *   pci:DEVICE[/N]  resourceN of a PCI function (0000:65:00.0; N: 2 unless said), or its path
 *   uio:N[/M]       map M (0 unless said) of /dev/uioN
 *   vfio:DEVICE[/N] region N (2 unless said) of a PCI function that vfio-pci has
 *   file:PATH       a file that holds an image of registers
 *   sim:PATH        a simulation's Unix socket
 *   toed[:PATH]     the register page of a running toed
 *
 * Behind each may stand @OFFSET: the registers begin there, such as OpenNIC's box at @0x100000.
 */
#ifndef TOE_CLI_BAR_H
#define TOE_CLI_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAR_SPECS "pci:DEVICE[/N], uio:N[/M], vfio:DEVICE[/N], file:PATH, sim:PATH or toed[:PATH]"
#define BAR_WHY   512

struct bar;

struct bar_ops {
    const char *kind;
    /* Fills bar; name is what stands behind the colon ("" when there is none). False: said in
     * bar->why. */
    bool (*open)(struct bar *bar, const char *name);
    bool (*read)(struct bar *bar, uint64_t at, uint32_t *value);
    bool (*write)(struct bar *bar, uint64_t at, uint32_t value);
    void (*close)(struct bar *bar);
    /* Why reading it may give all ones; NULL: what bar.c says of any kind. */
    void (*why_ones)(struct bar *bar);
    const char *what; /* "FPGA registers": for a source's name */
};

struct bar {
    const struct bar_ops *ops;
    char name[256];  /* as it was asked for */
    uint64_t offset; /* @OFFSET */
    uint64_t size;   /* bytes from offset on; UINT64_MAX: not known */
    bool write;      /* wanted for writing */
    bool no_daemon;  /* no toed answers: an exit code of its own */
    int fd, group_fd, container_fd;
    volatile uint8_t *map;
    size_t map_size;
    char path[512]; /* of the function's folder in sysfs: pci, vfio */
    char why[BAR_WHY];
};

extern const struct bar_ops bar_pci, bar_uio, bar_vfio, bar_file, bar_sim, bar_toed;

/* Opens what spec names and looks whether it answers: a window that reads all ones is refused. 0 or
 * an exit code with the message said. */
int bar_open(struct bar *bar, const char *spec, bool write);
void bar_close(struct bar *bar);

/* At an address of the window, from @OFFSET on. False: said. */
bool bar_read32(struct bar *bar, uint64_t at, uint32_t *value);
bool bar_write32(struct bar *bar, uint64_t at, uint32_t value);
/* Width 32 or 64; of 64 bits the lower half is first, as the blocks latch the upper by it. */
bool bar_read(struct bar *bar, uint64_t at, unsigned width, uint64_t *value);
bool bar_write(struct bar *bar, uint64_t at, unsigned width, uint64_t value);

/* Helpers of the kinds: why, in words; maps fd and serves it. */
bool bar_fail(struct bar *bar, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool bar_map(struct bar *bar, uint64_t offset, size_t size);
bool bar_map_read(struct bar *bar, uint64_t at, uint32_t *value);
bool bar_map_write(struct bar *bar, uint64_t at, uint32_t value);
void bar_map_close(struct bar *bar);

/* "65:00.0/2" into the function's name in full ("0000:65:00.0") and a number. */
bool bar_pci_name(struct bar *bar, const char *text, char *device, size_t size, unsigned *number);
/* Clauses of pci and vfio on a function that answers all ones, from its folder in sysfs. */
void bar_pci_why(struct bar *bar);

#endif
