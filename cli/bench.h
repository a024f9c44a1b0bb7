/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - `toehold bench`. */
#ifndef TOE_CLI_BENCH_H
#define TOE_CLI_BENCH_H

/* Executes the load generator in place of this program. Returns an exit code when that fails. */
int cli_bench(int argc, char **argv);

#endif
