/* SPDX-License-Identifier: Apache-2.0 */
/* versions.h - checks whether toed and its programs run the installed files. */
#ifndef TOE_CLI_DOCTOR_VERSIONS_H
#define TOE_CLI_DOCTOR_VERSIONS_H

#include "facts.h"

/* Adds versions.toehold, versions.toed, versions.replaced and versions.program. */
void check_versions(struct facts *f);

#endif
