/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - inspects the file of a command: whether it can be executed, and whether a preloaded
 * library intercepts its socket calls. LD_PRELOAD does not reach static programs, Go programs,
 * other architectures and programs that gain privilege (ld.so(8), "Secure-execution mode").
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../common/exit.h"
#include "program.h"

#define SCRIPT_DEPTH 4 /* execve(2) follows as many interpreters of interpreters */
#define MAX_HEADERS  128
#define MAX_NOTES    65536

#if UINTPTR_MAX == UINT64_MAX
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

static int check_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
    if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return CLI_CANNOT_RUN;
    return 0;
}

int cli_find_command(const char *name, char *path)
{
    const char *dir = getenv("PATH");
    int result = CLI_NOT_FOUND;

    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX)
            return CLI_NOT_FOUND;
        memcpy(path, name, strlen(name) + 1);
        return check_file(path);
    }
    if (!*name)
        return CLI_NOT_FOUND;
    for (dir = dir ? dir : "/bin:/usr/bin"; dir;
         dir = strchr(dir, ':') ? strchr(dir, ':') + 1 : NULL) {
        int len = (int)strcspn(dir, ":");

        if (snprintf(path, PATH_MAX, "%.*s%s%s", len, dir, len ? "/" : "./", name) >= PATH_MAX)
            continue;
        switch (check_file(path)) {
        case 0:
            return 0;
        case CLI_CANNOT_RUN:
            /* As execvp(3): a later directory may have an executable one. */
            result = CLI_CANNOT_RUN;
        }
    }
    return result;
}

/* The kernel sets AT_SECURE, and the linker then drops LD_PRELOAD, when the program changes a user
 * or group id, or gains capabilities and the user is not root. */
static const char *gains_privilege(int fd)
{
    struct stat st;
    struct statvfs fs;

    if (fstat(fd, &st) < 0 || (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOSUID)))
        return NULL;
    if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
        return "is set-user-ID, so the system does not let a library be preloaded";
    if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
        return "is set-group-ID, so the system does not let a library be preloaded";
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "has file capabilities, so the system does not let a library be preloaded";
    return NULL;
}

/* The Go linker leaves a note named "Go" (its build id). */
static bool notes_name_go(int fd, const ElfW(Phdr) * ph)
{
    size_t size = ph->p_filesz < MAX_NOTES ? ph->p_filesz : MAX_NOTES, at = 0;
    unsigned char *notes = malloc(size ? size : 1);
    bool found = false;
    ssize_t n;

    if (!notes)
        return false;
    n = pread(fd, notes, size, (off_t)ph->p_offset);
    while (n > 0 && at + sizeof(ElfW(Nhdr)) <= (size_t)n) {
        ElfW(Nhdr) note;
        size_t name = at + sizeof note;

        memcpy(&note, notes + at, sizeof note);
        if (note.n_namesz > (size_t)n - name)
            break;
        if (note.n_namesz == 4 && !memcmp(notes + name, "Go\0", 4)) {
            found = true;
            break;
        }
        at = name + (((size_t)note.n_namesz + 3) & ~(size_t)3) +
             (((size_t)note.n_descsz + 3) & ~(size_t)3);
    }
    free(notes);
    return found;
}

static const char *why_elf_bypasses(int fd, const ElfW(Ehdr) * eh, const ElfW(Ehdr) * own)
{
    ElfW(Phdr) ph[MAX_HEADERS];
    bool dynamic = false;
    ssize_t n;
    int i;

    if (eh->e_ident[EI_CLASS] != OWN_CLASS || eh->e_machine != own->e_machine)
        return "is built for another architecture than the preload library";
    if (eh->e_phentsize != sizeof ph[0] || eh->e_phnum > MAX_HEADERS)
        return "has ELF headers of an unknown form";
    n = pread(fd, ph, eh->e_phnum * sizeof ph[0], (off_t)eh->e_phoff);
    if (n != (ssize_t)(eh->e_phnum * sizeof ph[0]))
        return "is cut short";
    for (i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_NOTE && notes_name_go(fd, &ph[i]))
            return "is a Go program, whose socket calls do not go through the C library";
        if (ph[i].p_type == PT_INTERP)
            dynamic = true;
    }
    return dynamic ? NULL : "is statically linked, so no library can be preloaded";
}

static bool read_header(int fd, ElfW(Ehdr) * eh)
{
    return pread(fd, eh, sizeof *eh, 0) == (ssize_t)sizeof *eh &&
           !memcmp(eh->e_ident, ELFMAG, SELFMAG);
}

/* Puts the interpreter of a "#!" line into path. */
static bool script_interpreter(int fd, char *path)
{
    char line[PATH_MAX + 2];
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    char *start;

    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t")] = '\0';
    if (!*start || strlen(start) >= PATH_MAX)
        return false;
    memcpy(path, start, strlen(start) + 1);
    return true;
}

int cli_open_program(const char *path)
{
    char name[PATH_MAX];
    int depth;

    snprintf(name, sizeof name, "%s", path);
    for (depth = 0; depth <= SCRIPT_DEPTH; depth++) {
        int fd = open(name, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || !script_interpreter(fd, name))
            return fd;
        close(fd);
    }
    return -1;
}

const char *cli_why_bypasses(const char *path)
{
    ElfW(Ehdr) eh, own;
    int fd, self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const char *why;

    if (self < 0 || !read_header(self, &own))
        memset(&own, 0, sizeof own);
    if (self >= 0)
        close(self);
    fd = cli_open_program(path);
    if (fd < 0)
        return NULL; /* executable but not readable: assume that the preload works */
    why = gains_privilege(fd);
    if (!why && read_header(fd, &eh))
        why = why_elf_bypasses(fd, &eh, &own);
    close(fd);
    return why;
}
