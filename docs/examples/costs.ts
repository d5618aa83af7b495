import { defineAgent, run } from "capstan";
import { compatible, findModelInfo, setModelTable } from "capstan/models";

// Stands in for a provider: an answer, and the usage of a prompt that was in its cache for the most part.
const fetch = async () => {
  const choices = [{ index: 0, message: { content: "Seven degrees." }, finish_reason: "stop" }];
  const details = { cached_tokens: 8000, cache_write_tokens: 1000 };
  const usage = { prompt_tokens: 10_000, completion_tokens: 50, prompt_tokens_details: details };
  return Response.json({ choices, usage });
};
const model = compatible({
  provider: "acme",
  model: "large",
  baseURL: "https://acme.example/v1",
  stream: false,
  fetch,
});
const agent = defineAgent({ name: "helper", model });

const before = await run(agent, "How cold is it?");
console.log(`unknown price: ${before.usage.unpriced}`);

setModelTable({
  date: "2026-11-16",
  models: {
    "acme/large": {
      price: { input: 2, output: 8, cachedInput: 0.2, cacheWrite: 2.5 },
      contextWindow: 400_000,
    },
  },
});
const after = await run(agent, "How cold is it?");
console.log(`$${after.usage.cost?.toFixed(4)}, prices of ${(await findModelInfo("acme/large"))?.date}`);
