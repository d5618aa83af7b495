// A server of the studio in a process of its own, for tests: `served.ts <order as JSON>`. Says its address as its first line.
import { createServer, listen } from "@capstan/server";
import { sqlite } from "capstan/stores/sqlite";
import { studioFolder } from "../index.ts";
import { chatAgents, introductions } from "./chat-agents.ts";
import type { ServeOrder } from "./serve-apart.ts";

const { file, port }: ServeOrder = JSON.parse(process.argv[2] ?? "{}");
const server = createServer({
  agents: chatAgents(),
  about: introductions,
  store: sqlite(file),
  studio: { folder: studioFolder },
});
const { url } = await listen(server, { port });
process.stdin.resume().on("end", () => process.exit(0));
process.stdout.write(`${url}\n`);
