import { compatible, embed, rerank } from "capstan/models";

// Stands in for a local server such as Ollama or vLLM: a text about animals is [1, 0], any other [0, 1].
const isAnimal = (text: string) => /cat|dog|pet/i.test(text);
const fetch = async (_url: unknown, { body }: RequestInit = {}) => {
  const { input, documents } = JSON.parse(String(body));
  const data = input?.map((text: string) => ({ embedding: isAnimal(text) ? [1, 0] : [0, 1] }));
  const results = documents?.map((text: string, index: number) => ({
    index,
    relevance_score: isAnimal(text) ? 0.9 : 0.1,
  }));
  return Response.json({ data, results });
};
const model = compatible({ model: "local-embedder", baseURL: "http://localhost:11434/v1", fetch });

const documents = ["Taxes are due in May.", "A cat sleeps 15 hours a day."];
const { vectors } = await embed(model, documents, { kind: "document" });
const [query = []] = (await embed(model, ["How long do pets rest?"], { kind: "query" })).vectors;
const scores = vectors.map((vector) =>
  vector.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0),
);
console.log(`nearest: ${documents[scores.indexOf(Math.max(...scores))]}`);

const { ranking } = await rerank(model, { query: "How long do pets rest?", documents });
console.log(`best: ${documents[ranking[0]?.index ?? -1]}`);
