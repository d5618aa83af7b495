import { hostSuite } from "./host-suite.ts";
import { nodeCommand } from "./start-host.ts";

hostSuite("Express", () => nodeCommand("express.ts"));
hostSuite("Fastify", () => nodeCommand("fastify.ts"));
hostSuite("Hono", () => nodeCommand("hono.ts"));
