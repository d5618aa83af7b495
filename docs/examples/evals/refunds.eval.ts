import { defineAgent, defineTool } from "capstan";
import { defineEval, type Eval, scorers } from "capstan/evals";
import { offline } from "capstan/models";

const findOrder = defineTool({
  name: "find_order",
  description: "Finds an order by its number",
  input: { order: { type: "string", required: true } },
  effects: "none",
  examples: [{ phrase: "where is order {order}" }, { phrase: "find order {order}" }],
  execute: ({ order }) => `Order ${order} left on Monday.`,
});

const support = defineAgent({ name: "support", model: offline(), tools: [findOrder] });

const refunds: Eval = defineEval({
  name: "refunds",
  agent: support,
  cases: [
    { id: "where", input: "Where is order 17?", expected: "left on Monday", calls: ["find_order"] },
    {
      id: "refund",
      input: "I want my money back for order 17",
      expected: "refund",
      calls: ["find_order", "pay_back"],
      notes: "The agent has no tool for this yet, so this case fails.",
    },
  ],
  scorers: [scorers.contains(), scorers.callSequence(), scorers.maxTurns(3)],
});

export default refunds;
