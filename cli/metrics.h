/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - `toehold metrics`. */
#ifndef TOE_CLI_METRICS_H
#define TOE_CLI_METRICS_H

/* Runs the verb. Returns an exit code. */
int cli_metrics(int argc, char **argv);

#endif
