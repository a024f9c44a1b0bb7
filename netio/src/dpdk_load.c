/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk_load.c - dpdk:PORT: finds and loads the module of the dpdk back end (dpdk_module.h), which
 * is next to this code: in the build or in the installation.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpdk_module.h"

#define MODULE "libtoe_dpdk.so"

#ifdef TOEHOLD_DPDK
static void *try_load(const char *dir, size_t dir_len, const char *below, char *why, size_t size)
{
    char path[PATH_MAX];
    const char *said;
    void *lib;

    if (snprintf(path, sizeof(path), "%.*s%s" MODULE, (int)dir_len, dir, below) >=
            (int)sizeof(path) ||
        access(path, F_OK) != 0)
        return NULL;
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    said = lib ? NULL : dlerror();
    if (said)
        snprintf(why, size, "%s", said);
    return lib;
}

/* Loads it from the folder TOEHOLD_MODULES; without that, from beside the program or library that
 * contains this code, the build's folder, or the installation. */
static void *load(char *why, size_t size)
{
    Dl_info self;
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    const char *slash, *modules = getenv("TOEHOLD_MODULES");
    void *lib = NULL;

    if (modules && *modules)
        return try_load(modules, strlen(modules), "/", why, size);
    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash)
        lib = try_load(exe, (size_t)(slash - exe), "/../netio/", why, size);
    if (!lib && dladdr(MODULE, &self) && self.dli_fname) {
        slash = strrchr(self.dli_fname, '/');
        if (slash) {
            size_t len = (size_t)(slash - self.dli_fname);

            lib = try_load(self.dli_fname, len, "/", why, size);
            if (!lib)
                lib = try_load(self.dli_fname, len, "/../netio/", why, size);
        }
    }
    return lib ? lib : try_load(TOEHOLD_LIBDIR, strlen(TOEHOLD_LIBDIR), "/", why, size);
}

struct netio *dpdk_open(const char *args, const struct netio_config *cfg,
                        const struct netio_err *err)
{
    const struct dpdk_module *m;
    char why[400] = "there is no " MODULE " beside this program or in " TOEHOLD_LIBDIR;
    void *lib = load(why, sizeof(why)); /* never unloaded: DPDK cannot be initialised twice */

    if (!lib) {
        netio_err_set(err, "dpdk: cannot load the back end: %s", why);
        return NULL;
    }
    m = dlsym(lib, DPDK_MODULE_SYMBOL);
    if (!m || m->abi != DPDK_MODULE_ABI) {
        netio_err_set(err, "dpdk: " MODULE " is of another release than this program: install "
                           "both of one");
        return NULL;
    }
    return m->open(args, cfg, err);
}
#else
struct netio *dpdk_open(const char *args, const struct netio_config *cfg,
                        const struct netio_err *err)
{
    (void)cfg;
    netio_err_set(err,
                  "dpdk:%s: this build has no DPDK (libdpdk was missing when it was configured): "
                  "install libdpdk-dev and configure again, or use another interface",
                  args);
    return NULL;
}
#endif
