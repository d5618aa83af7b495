// The bridge as a program: an MCP server over stdio for a client that starts it, or with `--http <port>` over HTTP for
// this machine. `--debug` tells on stderr what happens.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { serve } from "@hono/node-server";
import { bridge } from "./agent.ts";
import { bridgeService } from "./bridge-service.ts";
import { childServers, usualData } from "./child-servers.ts";

const { values } = parseArgs({
  options: { http: { type: "string" }, file: { type: "string" }, debug: { type: "boolean" } },
});
const tell = (line: string) => void process.stderr.write(line.endsWith("\n") ? line : `${line}\n`);
const data = usualData();

const mcp = await childServers({ data, ...(values.file !== undefined && { file: values.file }) });
const service = bridgeService({
  agent: await bridge({ mcp }),
  mcp,
  reasoningFile: join(data, "reasoning.log"),
  ...(values.debug && { debug: tell }),
});
const leaving = Promise.withResolvers<void>();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => leaving.resolve());

if (values.http === undefined) await Promise.race([service.stdio().closed, leaving.promise]);
else {
  const listener = serve(
    { fetch: (request) => service.fetch(request), port: Number(values.http), hostname: "127.0.0.1" },
    ({ port }) => tell(`http://127.0.0.1:${port}/mcp`),
  );
  await leaving.promise;
  listener.close();
  // A client that stays connected without asking anything would hold the process.
  if ("closeAllConnections" in listener) listener.closeAllConnections();
}
await service.close();
await mcp.close();
