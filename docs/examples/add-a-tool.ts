import { defineAgent, defineTool, run } from "capstan";
import { offline } from "capstan/models";
import { Type } from "typebox";

const rates: { readonly [currency: string]: number } = { euros: 1, crowns: 11.5, pounds: 0.86 };

const convert = defineTool({
  name: "convert_money",
  description: "Converts an amount of euros into another currency",
  // TypeBox, zod 4, or plain JSON Schema. The model reads the descriptions; `execute` gets its types from here.
  input: Type.Object({
    amount: Type.Number({ description: "How many euros" }),
    currency: Type.String({ description: "crowns or pounds" }),
  }),
  // Example phrases help every model, and the offline model matches sentences against them.
  examples: [
    { phrase: "how much is {amount} euros in {currency}" },
    { phrase: "convert {amount} euros to {currency}" },
  ],
  effects: "none", // no side effects: calls can run in parallel, be retried, and run again after a crash
  reads: ["public"], // returns neither private data nor untrusted content
  execute({ amount, currency }) {
    const rate = rates[currency.toLowerCase()];
    // An error the model can correct: say what is wrong and what is valid.
    if (rate === undefined)
      return { error: `Unknown currency "${currency}". Known currencies: ${Object.keys(rates).join(", ")}.` };
    const total = Math.round(amount * rate * 100) / 100;
    return { message: `${amount} euros are ${total} ${currency}.`, data: { amount, currency, total } };
  },
});

const agent = defineAgent({ name: "bank", model: offline(), tools: [convert] });
for (const question of ["How much is 20 euros in crowns?", "Convert 20 euros to shells"]) {
  const result = await run(agent, question);
  const calls = result.toolCalls.map(
    ({ name, input, status }) => `${name} ${JSON.stringify(input)} ${status}`,
  );
  console.log(`${calls.join(", ")}\n${result.text}`);
}
