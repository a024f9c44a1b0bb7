/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - checks of what the caller may do: capabilities and limits. */
#ifndef TOE_CLI_DOCTOR_RIGHTS_H
#define TOE_CLI_DOCTOR_RIGHTS_H

#include "facts.h"

/* Adds rights.capabilities, rights.memlock, rights.files, rights.file_size and
 * rights.address_space. */
void check_rights(struct facts *f);

#endif
