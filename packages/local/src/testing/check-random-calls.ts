import { createValidator } from "capstan/internal/verification";
import { ask } from "./ask.ts";
import { createRandomSchema } from "./random-schema.ts";
import { createRandom } from "./tiny-gguf.ts";
import { closingTokens, createTinyModel } from "./tiny-model.ts";

/** Has a random model call a tool with a random schema, many times. Returns what is wrong with the calls. */
export async function checkRandomCalls(from: number, count: number): Promise<readonly string[]> {
  const problems: string[] = [];
  const { model, remove } = await createTinyModel(
    { preferred: closingTokens, contextLength: 16_384 },
    { contextSize: 16_384, parallel: 1 },
  );
  try {
    for (let seed = from; seed < from + count; seed++) {
      const input = createRandomSchema(createRandom(seed));
      const { calls, finish } = await ask(model, {
        tools: [{ name: "act", description: "Acts", input }],
        toolChoice: { tool: "act" },
        settings: { seed, temperature: 1, effort: "none" },
      });
      const [call] = calls;
      const issues =
        calls.length === 1 && call?.name === "act" && finish === "tool_calls"
          ? await createValidator(input, "act")(JSON.parse(call.text))
          : [`${calls.length} calls, ${finish}`];
      if (issues.length > 0)
        problems.push(`${seed}: ${issues.join("; ")}: ${call?.text} by ${JSON.stringify(input)}`);
    }
  } finally {
    await remove();
  }
  return problems;
}
