// The bridge as a program: an MCP server over stdio, or with `--http <port>` over HTTP on this machine. `--debug` logs
// events to stderr.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { serve } from "@hono/node-server";
import { bridge } from "./agent.ts";
import { createBridgeService } from "./bridge-service.ts";
import { getDefaultDataFolder, startChildServers } from "./child-servers.ts";

const { values } = parseArgs({
  options: { http: { type: "string" }, file: { type: "string" }, debug: { type: "boolean" } },
});
const writeLine = (line: string) => void process.stderr.write(line.endsWith("\n") ? line : `${line}\n`);
const data = getDefaultDataFolder();

const mcp = await startChildServers({
  dataFolder: data,
  ...(values.file !== undefined && { file: values.file }),
});
const service = createBridgeService({
  agent: await bridge({ mcp }),
  mcp,
  reasoningFile: join(data, "reasoning.log"),
  ...(values.debug && { debug: writeLine }),
});
const shutdown = Promise.withResolvers<void>();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => shutdown.resolve());

if (values.http === undefined) await Promise.race([service.stdio().closed, shutdown.promise]);
else {
  const listener = serve(
    { fetch: (request) => service.fetch(request), port: Number(values.http), hostname: "127.0.0.1" },
    ({ port }) => writeLine(`http://127.0.0.1:${port}/mcp`),
  );
  await shutdown.promise;
  listener.close();
  // Idle connections would keep the process alive.
  if ("closeAllConnections" in listener) listener.closeAllConnections();
}
await service.close();
await mcp.close();
