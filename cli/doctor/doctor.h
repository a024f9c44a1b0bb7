/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - `toehold doctor`. */
#ifndef TOE_CLI_DOCTOR_H
#define TOE_CLI_DOCTOR_H

/* Runs the verb; argv[0] is its name. Returns an exit code. */
int cli_doctor(int argc, char **argv);

#endif
