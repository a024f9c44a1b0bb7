/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - what the stack under test can be asked for: of core/ all that gen.c makes. Another stack
 * behind the same functions (gateware/sim/toe_prop.cpp) has another script_fit(). */
#include "prop.h"

void script_fit(struct script *s)
{
    (void)s;
}
