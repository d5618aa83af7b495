import { defineAgent, defineTool, run } from "capstan";
import { offline } from "capstan/models";
import { Type } from "typebox";

const rates: { readonly [currency: string]: number } = { euros: 1, crowns: 11.5, pounds: 0.86 };

const convert = defineTool({
  name: "convert_money",
  description: "Converts an amount of euros into another currency",
  // TypeBox, zod 4, or plain JSON Schema. The model reads the descriptions, and `execute` gets its types from here.
  input: Type.Object({
    amount: Type.Number({ description: "How many euros" }),
    currency: Type.String({ description: "crowns or pounds" }),
  }),
  // What a person might say. Models read them too, and the offline model understands sentences by them.
  examples: [
    { phrase: "how much is {amount} euros in {currency}" },
    { phrase: "convert {amount} euros to {currency}" },
  ],
  effects: "none", // it changes nothing: may run side by side, be repeated, and be run again after a crash
  reads: ["public"], // it brings neither secrets nor words of strangers into the conversation
  execute({ amount, currency }) {
    const rate = rates[currency.toLowerCase()];
    // A mistake the model can correct: say what is wrong and what would be right.
    if (rate === undefined)
      return { error: `There is no rate for "${currency}". Known are ${Object.keys(rates).join(", ")}.` };
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
