import { defineAgent, defineTool, run, type ToolContext } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expectTypeOf, it } from "vitest";
import { z } from "zod";
import { codeMode } from "./code-mode.ts";

const getUser = defineTool({
  name: "get_user",
  description: "Returns the user",
  input: z.object({}),
  execute: (_input, { context }: ToolContext<{ user: string }>) => context.user,
});
const query = defineTool({
  name: "query",
  description: "Queries",
  input: z.object({ sql: z.string() }),
  execute: ({ sql }, { context }: ToolContext<{ database: (sql: string) => string }>) =>
    context.database(sql),
});

it("a run needs the context of all tools that programs can call, and knows their calls", () => {
  const tools = [codeMode({ tools: [getUser, query] })];
  const agent = defineAgent({ name: "main", model: scriptedModel([]), tools });
  const context = { user: "ada", database: (sql: string) => sql };
  const handle = run(agent, "Go.", { context });
  // @ts-expect-error: `query` needs the database
  run(agent, "Go.", { context: { user: "ada" } });
  type Call = Awaited<typeof handle>["toolCalls"][number];
  expectTypeOf<Extract<Call, { name: "run_code" }>["input"]>().toEqualTypeOf<{ code: string }>();
  expectTypeOf<Extract<Call, { name: "query" }>["input"]>().toEqualTypeOf<{ sql: string }>();
});
