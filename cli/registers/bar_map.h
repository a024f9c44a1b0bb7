/* SPDX-License-Identifier: Apache-2.0 */
/* bar_map.h - struct bar, its operations, and what the kinds of bar.h share. */
#ifndef TOE_CLI_BAR_MAP_H
#define TOE_CLI_BAR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAR_WHY 512

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

/* Helpers of the kinds: why, in words; maps fd and serves it. */
bool bar_fail(struct bar *bar, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool bar_map(struct bar *bar, uint64_t offset, size_t size);
bool bar_map_read(struct bar *bar, uint64_t at, uint32_t *value);
bool bar_map_write(struct bar *bar, uint64_t at, uint32_t value);
void bar_map_close(struct bar *bar);

#endif
