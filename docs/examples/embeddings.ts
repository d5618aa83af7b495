import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { compatible, embed, rerank } from "capstan/models";

// Stands in for a local server such as Ollama or vLLM: a text about animals is [1, 0], any other [0, 1].
const isAnimal = (text: string) => /cat|dog|pet/i.test(text);
const server = createServer(async (request, response) => {
  const { input, documents } = JSON.parse((await Array.fromAsync(request)).join(""));
  const data = input?.map((text: string) => ({ embedding: isAnimal(text) ? [1, 0] : [0, 1] }));
  const results = documents?.map((text: string, index: number) => ({
    index,
    relevance_score: isAnimal(text) ? 0.9 : 0.1,
  }));
  response.end(JSON.stringify({ data, results }));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const model = compatible({ model: "local-embedder", baseURL: `http://localhost:${port}/v1` });

const documents = ["Taxes are due in May.", "A cat sleeps 15 hours a day."];
const { vectors } = await embed(model, documents, { kind: "document" });
const [query = []] = (await embed(model, ["How long do pets rest?"], { kind: "query" })).vectors;
const scores = vectors.map((vector) =>
  vector.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0),
);
console.log(`nearest: ${documents[scores.indexOf(Math.max(...scores))]}`);

const { ranking } = await rerank(model, { query: "How long do pets rest?", documents });
console.log(`best: ${documents[ranking[0]?.index ?? -1]}`);
server.close();
