import { defineAgent, hostedTools, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expectTypeOf, it } from "vitest";
import { fileTools } from "./file-tools.ts";
import { memoryTools } from "./memory-tools.ts";
import { planTool } from "./plan-tool.ts";
import { shellTool } from "./shell-tool.ts";
import { webFetch } from "./web-fetch.ts";

it("the calls of the shipped tools are typed, also beside tools of the provider", async () => {
  const agent = defineAgent({
    name: "coder",
    model: scriptedModel([]),
    tools: [
      ...fileTools({ root: "." }),
      shellTool({ cwd: "." }),
      webFetch(),
      planTool(),
      ...memoryTools({ scope: "user" }),
      hostedTools.webSearch(),
    ],
  });
  for (const call of (await run(agent, "Go")).pending) {
    if (call.name === "web_fetch") expectTypeOf(call.input.url).toEqualTypeOf<string>();
    if (call.name === "shell") expectTypeOf(call.input.script).toEqualTypeOf<string | undefined>();
    if (call.name === "write_file")
      expectTypeOf(call.input).toEqualTypeOf<{ path: string; content: string }>();
    if (call.name === "memory") expectTypeOf(call.input.path).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: no tool has this name
    if (call.name === "writefile") break;
  }
});
