// A studio server in a child process, for tests: `server-process.ts <options as JSON>`. Prints its address as the first line.
import { createServer, listen } from "@capstan/server";
import { sqlite } from "capstan/stores/sqlite";
import { studioFolder } from "../index.ts";
import { agentProfiles, createChatAgents } from "./chat-agents.ts";
import type { ServeOptions } from "./spawn-server.ts";

const { file, port }: ServeOptions = JSON.parse(process.argv[2] ?? "{}");
const server = createServer({
  agents: createChatAgents(),
  about: agentProfiles,
  store: sqlite(file),
  studio: { folder: studioFolder },
});
const { url } = await listen(server, { port });
process.stdin.resume().on("end", () => process.exit(0));
process.stdout.write(`${url}\n`);
