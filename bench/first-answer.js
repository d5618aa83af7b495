// Starts `capstan serve` and exits once it has answered a request. The argument is the program of the command line.
import { once } from "node:events";
import { get } from "node:http";
import module from "node:module";
import { createServer } from "node:net";
import { pathToFileURL } from "node:url";

const [program = ""] = process.argv.splice(2);
const port = await findFreePort();
process.argv[1] = program;
process.argv.push("serve", "--port", String(port));
void import(pathToFileURL(program).href);
while (!(await isAnswered())) await new Promise((resolve) => setTimeout(resolve, 5));
module.flushCompileCache();
process.exit();

async function findFreePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

function isAnswered() {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/api/health" }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => resolve(false));
  });
}
