// SPDX-License-Identifier: Apache-2.0
// Node.js as an HTTP server (`http_node.js serve ADDRESS PORT`: /hello, POST /echo, GET /bytes/N)
// and client (`http_node.js client ADDRESS PORT`: prints the responses of such a server as JSON).
"use strict";
const crypto = require("crypto");
const http = require("http");

const [, , what, host, port] = process.argv;
const pattern = (n) => Buffer.alloc(n, "0123456789abcdef");
const digest = (data) => crypto.createHash("sha256").update(data).digest("hex");

function serve() {
  const server = http.createServer((request, response) => {
    if (request.method === "POST") {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      return request.on("end", () => response.end(Buffer.concat(chunks)));
    }
    const bytes = /^\/bytes\/(\d+)$/.exec(request.url);
    return response.end(bytes ? pattern(Number(bytes[1])) : "hello\n");
  });
  server.listen(Number(port), host, () => console.log("ready"));
}

function request(agent, method, path, body) {
  return new Promise((resolve, reject) => {
    const options = { agent, host, port, method, path };
    const sent = http.request(options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks)));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function client() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  const hellos = await Promise.all(
    Array.from({ length: 500 }, () => request(agent, "GET", "/hello")),
  );
  const body = crypto.randomBytes(5e6);
  const back = await request(agent, "POST", "/echo", body);
  const many = await request(agent, "GET", "/bytes/10000000");
  agent.destroy();
  console.log(
    JSON.stringify({
      hellos: hellos.filter((h) => h.toString() === "hello\n").length,
      echoed: back.equals(body),
      bytes: digest(many) === digest(pattern(1e7)),
    }),
  );
}

if (what === "serve") serve();
else client();
