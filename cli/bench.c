/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - `toehold bench`: executes the load generator, a separate program. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "common/exit.h"
#include "common/message.h"
#include "common/part.h"

#define PROGRAM "toehold-bench"

int cli_bench(int argc, char **argv)
{
    char path[PATH_MAX];

    (void)argc;
    if (!cli_find_part(PROGRAM, "../bench/load/", TOEHOLD_BINDIR, "TOEHOLD_BENCH", path))
        return CLI_CONFIG;
    execv(path, argv);
    cli_message("%s: %s", path, strerror(errno));
    return CLI_FAILURE;
}
