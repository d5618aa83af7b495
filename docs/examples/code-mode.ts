import { codeMode } from "@capstan/code-mode";
import { defineAgent, defineTool, run, type Tool } from "capstan";
import { type Script, scriptedModel } from "capstan/testing";
import { z } from "zod";

const getOrder = defineTool({
  name: "get_order",
  description: "Returns an order with its customer, state and lines",
  input: z.object({ id: z.int().describe("The number of the order, from 1") }),
  effects: "none",
  execute: ({ id }) => ({
    id,
    customer: `Customer ${id % 7}`,
    state: id % 3 === 0 ? "open" : "paid",
    lines: [
      { article: "Rope", price: 12, count: id },
      { article: "Anchor", price: 85, count: 1 },
    ],
  }),
});

const program = `const ids = Array.from({ length: 40 }, (_, index) => index + 1);
const orders = await Promise.all(ids.map((id) => tools.get_order({ id })));
const open = orders.filter(({ state }) => state === "open");
const total = open.flatMap(({ lines }) => lines).reduce((sum, { price, count }) => sum + price * count, 0);
return { open: open.length, total };`;

/** The first step calls tools; the second answers with the last result. */
const oneProgram: Script = ({ history }) => {
  const last = history.at(-1);
  if (last?.type === "result") return { text: `The program returned ${last.content}.` };
  return { calls: [{ name: "run_code", input: { code: program } }] };
};
const calls = Array.from({ length: 40 }, (_, index) => ({ name: "get_order", input: { id: index + 1 } }));
const oneByOne: Script = [...calls.map((call) => ({ calls: [call] })), { text: "13 open orders: 4381." }];
const oneMessage: Script = [{ calls }, { text: "13 open orders: 4381." }];

/** Counts about four characters of a request per token, as providers bill them: the whole history each time. */
const countTokens = (request: object) => Math.round(JSON.stringify(request).length / 4);

async function measure(name: string, tools: readonly Tool[], script: Script): Promise<void> {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "clerk", model, tools, policy: { maxTurns: 50 } });
  const handle = run(agent, "Which of the orders 1 to 40 are open, and what are they worth?");
  let made = 0;
  for await (const event of handle)
    if (event.type === "tool_call_result" && event.name === "get_order") made += 1;
  const { text } = await handle;
  const tokens = model.requests.reduce(
    (sum, { history, tools: sent }) => sum + countTokens({ history, sent }),
    0,
  );
  console.log(`${name}: ${made} calls, ${model.requests.length} requests, ${tokens} input tokens. ${text}`);
}

await measure("one call per turn", [getOrder], oneByOne);
await measure("all calls in one message", [getOrder], oneMessage);
await measure("one program", [codeMode({ tools: [getOrder] })], oneProgram);
