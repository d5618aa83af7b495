import { toPlainText } from "../history.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";

type Order = { readonly name: string; readonly input: object };

/**
 * The worst case for prompt injection: a model that does its task and obeys every order in any text it reads. An order is
 * written `DO tool {"json":"arguments"}`; several orders are obeyed one after another. The model resists nothing, so
 * every call that does not happen was stopped by the runtime.
 */
export function obedientModel(plan: readonly Order[], answer = "Done."): Model {
  return {
    id: "test/obedient",
    async *stream(request) {
      const made = request.history.flatMap((entry) =>
        entry.type === "assistant" ? entry.parts.filter((part) => part.type === "call") : [],
      );
      const asked = made.map(({ name, input }) => `${name} ${JSON.stringify(input)}`);
      const pendingOrders = [...collectOrders(request), ...plan].filter(
        ({ name, input }) => !asked.includes(`${name} ${JSON.stringify(input)}`),
      );
      const next = pendingOrders[0];
      yield next
        ? toCallChunks(next, made.length)
        : [
            { type: "text", text: answer },
            { type: "finish", reason: "end" },
          ];
    },
  };
}

function toCallChunks({ name, input }: Order, count: number): Chunk[] {
  return [
    { type: "call_start", index: 0, id: `call_${count}`, name },
    { type: "call_delta", index: 0, text: JSON.stringify(input) },
    { type: "finish", reason: "tool_calls" },
  ];
}

/** Orders in all untrusted text: results, tool descriptions, and input that the user did not write. */
function collectOrders({ history, tools }: ModelRequest): Order[] {
  const texts = history.map((entry) => {
    const isRead = entry.type === "result" || (entry.type === "user" && entry.provenance !== undefined);
    return isRead ? toPlainText(entry.content) : "";
  });
  const described = tools.map(({ description, input }) => `${description} ${JSON.stringify(input)}`);
  return [...described, ...texts].flatMap(parseOrders);
}

function parseOrders(text: string): Order[] {
  // Orders count whether or not they are quoted inside JSON.
  return [...text.replaceAll('\\"', '"').matchAll(/DO (\w+) (\{.*?\})/g)].map(
    ([, name = "", json = "{}"]) => ({
      name,
      input: JSON.parse(json),
    }),
  );
}
