// SPDX-License-Identifier: Apache-2.0
// Serves files/ by two processes: node cluster.js ADDRESS PORT. SIGHUP replaces them: the new ones
// listen before the old ones stop, and those finish what they have begun.
'use strict';
const cluster = require('cluster');
const fs = require('fs');
const http = require('http');
const path = require('path');

const [address, port] = process.argv.slice(2);
const WORKERS = 2;

function replace() {
    const old = Object.values(cluster.workers);
    let listening = 0;
    for (let i = 0; i < WORKERS; i++) {
        cluster.fork().on('listening', () => {
            if (++listening === WORKERS) {
                old.forEach((worker) => worker.disconnect());
            }
        });
    }
}

function serve() {
    const server = http.createServer((request, response) => {
        const body = fs.readFileSync(path.join(__dirname, 'files', path.basename(request.url)));
        response.writeHead(200, { 'Content-Length': body.length });
        response.end(body);
    });
    server.listen(Number(port), address);
}

if (cluster.isPrimary) {
    process.on('SIGHUP', replace);
    replace();
} else {
    serve();
}
