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
    /* Opens the window; name follows the colon ("" without one). Returns false with the reason in
     * bar->why. */
    bool (*open)(struct bar *bar, const char *name);
    bool (*read)(struct bar *bar, uint64_t at, uint32_t *value);
    bool (*write)(struct bar *bar, uint64_t at, uint32_t value);
    void (*close)(struct bar *bar);
    /* Sets bar->why when the window reads all ones; NULL: a general reason. */
    void (*why_ones)(struct bar *bar);
    const char *what; /* "FPGA registers", for messages */
};

struct bar {
    const struct bar_ops *ops;
    char name[256];  /* as the user gave it */
    uint64_t offset; /* @OFFSET */
    uint64_t size;   /* bytes from offset on; UINT64_MAX: unknown */
    bool write;      /* opened for writing */
    bool no_daemon;  /* no toed answers: exit code CLI_NO_DAEMON */
    int fd, group_fd, container_fd;
    volatile uint8_t *map;
    size_t map_size;
    char path[512]; /* folder of the function in sysfs: pci, vfio */
    char why[BAR_WHY];
};

/* Sets bar->why and returns false. */
bool bar_fail(struct bar *bar, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Maps bar->fd; the functions below access and unmap it. */
bool bar_map(struct bar *bar, uint64_t offset, size_t size);
bool bar_map_read(struct bar *bar, uint64_t at, uint32_t *value);
bool bar_map_write(struct bar *bar, uint64_t at, uint32_t value);
void bar_map_close(struct bar *bar);

#endif
