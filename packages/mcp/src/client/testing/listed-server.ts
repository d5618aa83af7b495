// A server whose name, tools and result are in a file, read anew each time, so that a test can change them.
import { readFileSync } from "node:fs";
import { initialized, send, serve, text } from "./raw-server.ts";

type Listed = {
  readonly name?: string;
  readonly tools: readonly { readonly name: string }[];
  readonly result?: object;
};

const read = (): Listed => JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

serve("listed", {
  initialize: () => initialized(read().name ?? "listed"),
  "tools/list": () => ({ tools: read().tools }),
  "tools/call"({ name }) {
    if (name === "announce") send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    if (name === "fall") process.exit(1);
    return read().result ?? text(`${name} was called`);
  },
});
