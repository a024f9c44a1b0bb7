/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - `toehold tune`: measures which settings are best for a workload. */
#ifndef TOE_CLI_TUNE_TUNE_H
#define TOE_CLI_TUNE_TUNE_H

/* argv[0] is "tune". Returns an exit code. */
int cli_tune(int argc, char **argv);

#endif
