import { createServer, type Server } from "@capstan/server";
import { helper } from "./agent.ts";

export const server: Server = createServer({ agents: [helper], basePath: "/agents" });
