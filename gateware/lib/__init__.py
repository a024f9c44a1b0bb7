# SPDX-License-Identifier: Apache-2.0
"""What the commands of scripts/gateware are made of."""
