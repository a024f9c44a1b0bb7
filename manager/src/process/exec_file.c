/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_file.c - checks whether a program will load this library (exec.h). It does when LD_PRELOAD
 * of its environment names the library and the dynamic loader starts the file: the file is not
 * static, not for another machine, and does not run with more rights than ours.
 */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "exec_file.h"

#define INTERPRETERS_MAX 4 /* as Linux: a script's interpreter may be a script */

#if __SIZEOF_POINTER__ == 8
#define elf_head  Elf64_Ehdr
#define elf_part  Elf64_Phdr
#define OWN_CLASS ELFCLASS64
#else
#define elf_head  Elf32_Ehdr
#define elf_part  Elf32_Phdr
#define OWN_CLASS ELFCLASS32
#endif

/* Returns whether an entry of LD_PRELOAD has exactly this file name. */
static bool names(const char *list, const char *name)
{
    size_t len = strlen(name);
    const char *at = list;

    while ((at = strstr(at, name)) != NULL) {
        if ((at == list || strchr("/: ", at[-1])) && (!at[len] || strchr(": ", at[len])))
            return true;
        at++;
    }
    return false;
}

static bool is_named(char *const envp[])
{
    static const char variable[] = "LD_PRELOAD=";
    const char *name;
    Dl_info us;

    if (!dladdr((void *)(uintptr_t)&texec_loads_us, &us) || !us.dli_fname)
        return false;
    name = strrchr(us.dli_fname, '/');
    name = name ? name + 1 : us.dli_fname;
    for (; envp && *envp; envp++)
        if (strncmp(*envp, variable, sizeof(variable) - 1) == 0)
            return names(*envp + sizeof(variable) - 1, name);
    return false;
}

/* Returns whether a program has other rights than its caller. The dynamic loader then preloads
 * nothing (AT_SECURE). */
static bool has_more_rights(int fd)
{
    struct stat st;

    return getuid() != geteuid() || getgid() != getegid() || fstat(fd, &st) < 0 ||
           (st.st_mode & (S_ISUID | S_ISGID)) || fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Returns whether the file has a program interpreter, the dynamic loader. */
static bool is_dynamic(int fd, const elf_head *e)
{
    elf_part p;

    for (unsigned i = 0; i < e->e_phnum; i++) {
        off_t at = (off_t)(e->e_phoff + (size_t)i * e->e_phentsize);

        if (sys_pread(fd, &p, sizeof(p), at) != (ssize_t)sizeof(p))
            return false;
        if (p.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static bool is_of_this_machine(const elf_head *e)
{
    const elf_head *own = (const void *)getauxval(AT_SYSINFO_EHDR);

    if (e->e_ident[EI_CLASS] != OWN_CLASS)
        return false;
    return !own || own->e_machine == e->e_machine;
}

/* Returns the interpreter in a script's first line, a part of `line`; NULL: none. */
static char *interpreter(char *line, size_t n)
{
    char *at = line + 2, *end;

    line[n] = 0;
    at += strspn(at, " \t");
    end = at + strcspn(at, " \t\n");
    *end = 0;
    return *at ? at : NULL;
}

/* Checks one file. -1: a script, whose interpreter is now in path; else the result. */
static int look(char path[PATH_MAX])
{
    union {
        elf_head elf;
        char text[256];
    } head = {.text = ""};
    /* exec rejects a FIFO: do not wait for its writer; and do not acquire a terminal */
    const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = (int)sys_call(SYS_openat, AT_FDCWD, path, how, 0), r = 0;
    struct stat st;
    ssize_t n = fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
                    ? -1
                    : sys_pread(fd, &head, sizeof(head) - 1, 0);
    char *name;

    if (n > 2 && memcmp(head.text, "#!", 2) == 0) {
        name = interpreter(head.text, (size_t)n);
        if (name) {
            memmove(path, name, strlen(name) + 1);
            r = -1;
        }
    } else if (n >= (ssize_t)sizeof(head.elf) && memcmp(head.text, ELFMAG, SELFMAG) == 0) {
        r = is_of_this_machine(&head.elf) && is_dynamic(fd, &head.elf) && !has_more_rights(fd);
    }
    if (fd >= 0)
        sys_close(fd);
    return r;
}

bool texec_loads_us(const char *path, char *const envp[])
{
    char at[PATH_MAX];
    int r = -1, saved = errno;

    if (strlen(path) >= sizeof(at) || !is_named(envp))
        return false;
    memcpy(at, path, strlen(path) + 1);
    for (int i = 0; i <= INTERPRETERS_MAX && r < 0; i++)
        r = look(at);
    errno = saved;
    return r > 0;
}
