import { AgentError } from "../../base/errors.ts";

const examples = {
  embeddings: "openai/text-embedding-3-small",
  reranking: "together/Salesforce/Llama-Rank-v1",
};

/** Creates the error for a provider that has no such API. */
export function createUnsupportedError(id: string, what: keyof typeof examples): AgentError {
  const message = `The client of ${id} has no ${what}. Use another model, such as "${examples[what]}".`;
  return new AgentError("invalid_input", message);
}
