/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - checks of the socket's folder and of the installed files. */
#ifndef TOE_CLI_DOCTOR_FILES_H
#define TOE_CLI_DOCTOR_FILES_H

#include "facts.h"

/* Adds files.read_only, files.space, files.preload and files.toed. */
void check_files(struct facts *f);

#endif
