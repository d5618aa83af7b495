// A server whose name, tools and result are read from a file each time, so that a test can change them.
import { readFileSync } from "node:fs";
import { createInitializeResult, send, serveStdio, toTextResult } from "./raw-server.ts";

type ServerContent = {
  readonly name?: string;
  readonly tools: readonly { readonly name: string }[];
  readonly result?: object;
};

const readContent = (): ServerContent => JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

serveStdio("listed", {
  initialize: () => createInitializeResult(readContent().name ?? "listed"),
  "tools/list": () => ({ tools: readContent().tools }),
  "tools/call"({ name }) {
    if (name === "announce") send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    if (name === "fall") process.exit(1);
    return readContent().result ?? toTextResult(`${name} was called`);
  },
});
