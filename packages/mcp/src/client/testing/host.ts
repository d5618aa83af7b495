// A program that uses servers and then ends in one of several ways, without a word to them.
import { join } from "node:path";
import { mcpTools } from "../mcp-tools.ts";
import { hostile } from "./servers.ts";

const [, , end = "", folder = ""] = process.argv;

await mcpTools({
  mcpServers: {
    family: hostile("family", join(folder, "family")),
    stubborn: hostile("stubborn", join(folder, "stubborn")),
  },
});
process.stdout.write("ready\n");

const ends: { readonly [name: string]: () => void } = {
  waits: () => setInterval(() => undefined, 1_000),
  exits: () => process.exit(0),
  throws: () =>
    setImmediate(() => {
      throw new Error("nobody catches this");
    }),
};
ends[end]?.();
