/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_user.c - libc's names by which a process drops privileges.
 *
 * A server opens its port as root, forks its worker, and the worker becomes another user before it
 * first uses the listener. By then it may no longer open toed's socket. So a child with inherited
 * listeners gets its queue pairs before its user or one of its groups changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <grp.h>

#include "inherit.h"
#include "internal.h"
#include "preload.h"

static void rights_change(void)
{
    if (!tproc_borrowed())
        tctx_before_rights_change();
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names and parameter lists cannot be parenthesised */
/* Rarely called, and not from signal handlers: libc's function is resolved at each call. */
#define BEFORE_RIGHTS_CHANGE(name, parameters, arguments)                                          \
    EXPORT(int, name, parameters)                                                                  \
    {                                                                                              \
        int(*next) parameters;                                                                     \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
                                                                                                   \
        if (!found)                                                                                \
            return terr(ENOSYS);                                                                   \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        rights_change();                                                                           \
        return next arguments;                                                                     \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

BEFORE_RIGHTS_CHANGE(setuid, (uid_t id), (id))
BEFORE_RIGHTS_CHANGE(setgid, (gid_t id), (id))
BEFORE_RIGHTS_CHANGE(seteuid, (uid_t id), (id))
BEFORE_RIGHTS_CHANGE(setegid, (gid_t id), (id))
BEFORE_RIGHTS_CHANGE(setreuid, (uid_t real, uid_t effective), (real, effective))
BEFORE_RIGHTS_CHANGE(setregid, (gid_t real, gid_t effective), (real, effective))
BEFORE_RIGHTS_CHANGE(setresuid, (uid_t real, uid_t effective, uid_t saved),
                     (real, effective, saved))
BEFORE_RIGHTS_CHANGE(setresgid, (gid_t real, gid_t effective, gid_t saved),
                     (real, effective, saved))
BEFORE_RIGHTS_CHANGE(setgroups, (size_t n, const gid_t *groups), (n, groups))
BEFORE_RIGHTS_CHANGE(initgroups, (const char *user, gid_t group), (user, group))
