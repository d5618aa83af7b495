import { defineAgent, defineTool, type ToolContext } from "capstan";
import { scriptedModel } from "capstan/testing";
import { describe, it } from "vitest";
import { z } from "zod";
import { createServer } from "./create-server.ts";

const model = scriptedModel([]);

const greet = defineTool({
  name: "greet",
  description: "",
  input: z.object({}),
  execute: (_input, { context }: ToolContext<{ user: string }>) => context.user,
});
const greeter = defineAgent({ name: "greeter", model, tools: [greet] });
const admin = defineAgent({ name: "admin", model, context: z.object({ role: z.string() }) });
const agents = [greeter, admin];

describe("the agents of a server", () => {
  it("may need the user and the session, which is the default context", () => {
    createServer({ agents: [greeter, defineAgent({ name: "other", model })] });
  });

  it("may need what `context` returns", () => {
    createServer({ agents, context: ({ user }) => ({ user, role: "admin" }) });
    createServer({ agents, context: async ({ user }) => ({ user, role: "admin" }) });
  });

  it("may not need anything else", () => {
    // @ts-expect-error: Property 'context' is missing
    createServer({ agents });
    // @ts-expect-error: Property 'user' is missing in type '{ role: string; }'
    createServer({ agents, context: () => ({ role: "admin" }) });
  });
});
