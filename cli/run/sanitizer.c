/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitizer.c - recognizes programs built with AddressSanitizer by their dynamic string table,
 * which has the names of the libraries they need and of the symbols they use.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "sanitizer.h"

#define VARIABLE "ASAN_OPTIONS"
#define OPTION   "verify_asan_link_order"

/* The runtime of gcc, that of clang, and a symbol of both. A runtime that is linked statically does
 * not mind, and need not be found. */
static const char *const marks[] = {"libasan.so", "libclang_rt.asan", "__asan_init"};

/* The file of a program, mapped. */
struct image {
    const unsigned char *bytes;
    size_t size;
};

/* Returns the n bytes at an offset of the file; NULL: they are not there. */
static const void *at(const struct image *f, uint64_t offset, uint64_t n)
{
    return offset <= f->size && n <= f->size - offset ? f->bytes + offset : NULL;
}

/* Copies program header i. The header of the file has been checked for the architecture. */
static bool segment(const struct image *f, unsigned i, ElfW(Phdr) * ph)
{
    ElfW(Ehdr) eh;
    const void *from;

    memcpy(&eh, f->bytes, sizeof eh);
    if (i >= eh.e_phnum || eh.e_phentsize != sizeof *ph)
        return false;
    from = at(f, eh.e_phoff + (uint64_t)i * sizeof *ph, sizeof *ph);
    if (from)
        memcpy(ph, from, sizeof *ph);
    return from != NULL;
}

/* Returns what will be loaded at an address, or NULL. */
static const char *loaded(const struct image *f, uint64_t address, uint64_t n)
{
    ElfW(Phdr) ph;

    for (unsigned i = 0; segment(f, i, &ph); i++)
        if (ph.p_type == PT_LOAD && address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz)
            return at(f, ph.p_offset + (address - ph.p_vaddr), n);
    return NULL;
}

/* Returns the dynamic string table and its size, or NULL. */
static const char *strings(const struct image *f, uint64_t *size)
{
    uint64_t table = 0;
    ElfW(Phdr) ph;

    *size = 0;
    for (unsigned i = 0; segment(f, i, &ph); i++)
        for (uint64_t o = 0; ph.p_type == PT_DYNAMIC && o + sizeof(ElfW(Dyn)) <= ph.p_filesz;
             o += sizeof(ElfW(Dyn))) {
            const void *entry = at(f, ph.p_offset + o, sizeof(ElfW(Dyn)));
            ElfW(Dyn) d;

            if (!entry)
                return NULL;
            memcpy(&d, entry, sizeof d);
            if (d.d_tag == DT_STRTAB)
                table = d.d_un.d_ptr;
            else if (d.d_tag == DT_STRSZ)
                *size = d.d_un.d_val;
        }
    return *size ? loaded(f, table, *size) : NULL;
}

static bool is_marked(const struct image *f)
{
    uint64_t size;
    const char *table;

    if (f->size < sizeof(ElfW(Ehdr)) || memcmp(f->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    table = strings(f, &size);
    for (size_t i = 0; table && i < sizeof marks / sizeof marks[0]; i++)
        if (memmem(table, size, marks[i], strlen(marks[i])))
            return true;
    return false;
}

static bool has_asan(const char *path)
{
    int fd = cli_open_program(path);
    struct image f = {0};
    bool found = false;
    struct stat st;
    void *m;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        f.size = (size_t)st.st_size;
        m = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (m != MAP_FAILED) {
            f.bytes = m;
            found = is_marked(&f);
            munmap(m, f.size);
        }
    }
    close(fd);
    return found;
}

bool cli_allow_preload_with_asan(const char *path)
{
    const char *set = getenv(VARIABLE);
    char *value;
    bool ok;

    if (!has_asan(path) || (set && strstr(set, OPTION)))
        return true;
    if (asprintf(&value, "%s%s" OPTION "=0", set ? set : "", set && *set ? ":" : "") < 0)
        return false;
    ok = setenv(VARIABLE, value, 1) == 0;
    free(value);
    return ok;
}
