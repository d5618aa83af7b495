// A program that uses servers and then exits in different ways without closing them.
import { join } from "node:path";
import { mcpTools } from "../mcp-tools.ts";
import { hostileServer } from "./test-servers.ts";

const [, , end = "", folder = ""] = process.argv;

await mcpTools({
  mcpServers: {
    family: hostileServer("family", join(folder, "family")),
    stubborn: hostileServer("stubborn", join(folder, "stubborn")),
  },
});
process.stdout.write("ready\n");

const ends: { readonly [name: string]: () => void } = {
  waits: () => setInterval(() => undefined, 1_000),
  exits: () => process.exit(0),
  throws: () =>
    setImmediate(() => {
      throw new Error("uncaught");
    }),
};
ends[end]?.();
