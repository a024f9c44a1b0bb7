<?php
// SPDX-License-Identifier: Apache-2.0
// Serves files/.
readfile(__DIR__ . '/files/' . (int) trim($_SERVER['REQUEST_URI'], '/'));
