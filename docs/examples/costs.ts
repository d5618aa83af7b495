import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent, run } from "capstan";
import { compatible, findModelInfo, setModelTable } from "capstan/models";

// Stands in for a provider: an answer, and the usage of a prompt that was in its cache for the most part.
const server = createServer((_request, response) => {
  const choices = [{ index: 0, message: { content: "Seven degrees." }, finish_reason: "stop" }];
  const details = { cached_tokens: 8000, cache_write_tokens: 1000 };
  const usage = { prompt_tokens: 10_000, completion_tokens: 50, prompt_tokens_details: details };
  response.end(JSON.stringify({ choices, usage }));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const model = compatible({
  provider: "acme",
  model: "large",
  baseURL: `http://localhost:${port}/v1`,
  stream: false,
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
server.close();
