/* SPDX-License-Identifier: Apache-2.0 */
/* bar.c - opens a window of registers (bar.h) and reads and writes in it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include <toe/number.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "bar.h"
#include "bar_kinds.h"

#define ONES 0xffffffffu

static const struct bar_ops *const kinds[] = {&bar_pci,  &bar_uio, &bar_vfio,
                                              &bar_file, &bar_sim, &bar_toed};

/* Parses @OFFSET and removes it from the end of spec. */
static bool take_offset(struct bar *bar, char *spec)
{
    char *at = strrchr(spec, '@');

    if (!at)
        return true;
    if (!toe_number_c(at + 1, 0, UINT64_MAX, &bar->offset, NULL, 0) || bar->offset % 4) {
        cli_message("%s: give an offset that is a multiple of 4, such as @0x100000", bar->name);
        return false;
    }
    *at = '\0';
    return true;
}

static const struct bar_ops *kind_of(const char *spec, const char **name)
{
    size_t i, len = strcspn(spec, ":");

    *name = spec[len] ? spec + len + 1 : "";
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i]->kind) == len && !strncmp(kinds[i]->kind, spec, len))
            return kinds[i];
    return NULL;
}

/* Reads the first words. PCI Express returns all ones when no device answers. */
static bool answers(struct bar *bar)
{
    uint32_t word, i;

    for (i = 0; i < 4 && i * 4 < bar->size; i++) {
        if (!bar->ops->read(bar, bar->offset + i * 4, &word))
            return false;
        if (word != ONES)
            return true;
    }
    if (bar->ops->why_ones)
        bar->ops->why_ones(bar);
    else
        bar_fail(bar, "it reads all ones: no device answers there");
    return false;
}

int bar_open(struct bar *bar, const char *spec, bool write)
{
    char text[sizeof bar->name];
    const char *name;

    *bar = (struct bar){.write = write, .fd = -1, .group_fd = -1, .container_fd = -1};
    if (strlen(spec) >= sizeof text) {
        cli_message("--bar %.40s...: the name has more than %zu bytes", spec, sizeof text - 1);
        return CLI_USAGE;
    }
    strcpy(bar->name, spec); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): fits */
    strcpy(text, spec);      /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): fits */
    if (!take_offset(bar, text))
        return CLI_USAGE;
    bar->ops = kind_of(text, &name);
    if (!bar->ops) {
        cli_message("--bar %s: want %s", spec, BAR_SPECS);
        return CLI_USAGE;
    }
    bar->size = UINT64_MAX;
    if (bar->ops->open(bar, name)) {
        if (bar->size <= bar->offset)
            bar_fail(bar, "@0x%" PRIx64 " is beyond the end of its %" PRIu64 " bytes", bar->offset,
                     bar->size);
        else if (bar->size != UINT64_MAX)
            bar->size -= bar->offset;
        if (!bar->why[0] && answers(bar))
            return CLI_OK;
    }
    cli_message("%s: %s", bar->name, bar->why);
    bar_close(bar);
    return bar->no_daemon ? CLI_NO_DAEMON : CLI_NO_SOURCE;
}

void bar_close(struct bar *bar)
{
    if (bar->ops && bar->ops->close)
        bar->ops->close(bar);
    bar->ops = NULL;
}

static bool in_range(struct bar *bar, uint64_t at)
{
    if (at % 4) {
        cli_message("%s: address 0x%" PRIx64 " is not a multiple of 4", bar->name, at);
        return false;
    }
    if (bar->size != UINT64_MAX && (at >= bar->size || bar->size - at < 4)) {
        cli_message("%s: address 0x%" PRIx64 " is beyond the end of its 0x%" PRIx64 " bytes",
                    bar->name, at, bar->size);
        return false;
    }
    return true;
}

bool bar_read32(struct bar *bar, uint64_t at, uint32_t *value)
{
    if (!in_range(bar, at))
        return false;
    if (bar->ops->read(bar, bar->offset + at, value))
        return true;
    cli_message("%s: cannot read 0x%" PRIx64 ": %s", bar->name, at, bar->why);
    return false;
}

bool bar_write32(struct bar *bar, uint64_t at, uint32_t value)
{
    if (!in_range(bar, at))
        return false;
    if (!bar->ops->write) {
        cli_message("%s is read-only", bar->name);
        return false;
    }
    if (bar->ops->write(bar, bar->offset + at, value))
        return true;
    cli_message("%s: cannot write 0x%" PRIx64 ": %s", bar->name, at, bar->why);
    return false;
}

bool bar_read(struct bar *bar, uint64_t at, unsigned width, uint64_t *value)
{
    uint32_t low, high = 0;

    if (!bar_read32(bar, at, &low) || (width == 64 && !bar_read32(bar, at + 4, &high)))
        return false;
    *value = (uint64_t)high << 32 | low;
    return true;
}

bool bar_write(struct bar *bar, uint64_t at, unsigned width, uint64_t value)
{
    return bar_write32(bar, at, (uint32_t)value) &&
           (width != 64 || bar_write32(bar, at + 4, (uint32_t)(value >> 32)));
}
