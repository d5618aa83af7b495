import { handoffName } from "../kernel/agent.ts";
import { type Entry, getCalls, getText, toPlainText } from "../kernel/history.ts";
import type { Chunk, Model, ModelRequest } from "../kernel/model.ts";

export type Order = { readonly name: string; readonly input: object };
type Answer = string | ((request: ModelRequest) => string);

/**
 * The worst case for prompt injection: a model that does its task, then obeys every order in any text it is sent. An order
 * is written `DO tool {"json":"arguments"}`; several orders are obeyed one after another. The model resists nothing, so
 * every call that does not happen was stopped by the runtime.
 */
export function obedientModel(plan: readonly Order[], answer: Answer = "Done."): Model {
  return createModel(answer, (request) => [...plan, ...findOrders(request)]);
}

/** Makes the calls of the plan and obeys nothing. By default, its answer repeats every order that it has read. */
export function gossipModel(plan: readonly Order[] = [], answer: Answer = repeatOrders): Model {
  return createModel(answer, () => plan);
}

function createModel(answer: Answer, listOrders: (request: ModelRequest) => readonly Order[]): Model {
  // The history may lose calls in a compaction.
  const issued = new Set<string>();
  return {
    id: "test/obedient",
    async *stream(request) {
      const calls = request.history.flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
      const made = new Set([...issued, ...calls.map(formatOrder)]);
      const next = listOrders(request).find((order) => !made.has(formatOrder(order)));
      if (next) issued.add(formatOrder(next));
      const text = typeof answer === "string" ? answer : answer(request);
      yield next
        ? toCallChunks(next, issued.size)
        : [
            { type: "text", text },
            { type: "finish", reason: "end" },
          ];
    },
  };
}

function formatOrder({ name, input }: Order): string {
  return `${name} ${JSON.stringify(input)}`;
}

function toCallChunks({ name, input }: Order, count: number): Chunk[] {
  return [
    { type: "call_start", index: 0, id: `call_${count}`, name },
    { type: "call_delta", index: 0, text: JSON.stringify(input) },
    { type: "finish", reason: "tool_calls" },
  ];
}

/** Finds the orders in everything that is sent to the model, for tools that it can call. */
function findOrders(request: ModelRequest): Order[] {
  const offered = new Set(request.tools.map(({ name }) => name));
  return readTexts(request)
    .flatMap(parseOrders)
    .filter(({ name }) => offered.has(name));
}

function repeatOrders(request: ModelRequest): string {
  const orders = readTexts(request).flatMap(parseOrders);
  return ["I have read:", ...orders.map((order) => `DO ${formatOrder(order)}`)].join("\n");
}

function readTexts({ instructions, history, tools, output }: ModelRequest): string[] {
  const schemas = [...tools, ...(output ? [output] : [])].map((schema) => JSON.stringify(schema));
  return [instructions, ...schemas, ...history.map(listEntryTexts)];
}

function listEntryTexts(entry: Entry): string {
  switch (entry.type) {
    case "user":
    case "result":
      return toPlainText(entry.content);
    case "summary":
      return entry.text;
    case "assistant": {
      // An agent that takes over reads its task.
      const told = getCalls(entry).filter(({ name }) => name === handoffName);
      return [getText(entry), ...told.map(({ input }) => JSON.stringify(input))].join("\n");
    }
  }
}

/** Orders count whether or not they are quoted inside JSON, at any depth; orders inside the arguments of another do not. */
function parseOrders(text: string): Order[] {
  const orders: Order[] = [];
  let end = 0;
  for (const { 0: start, 1: name = "", index } of text.matchAll(/DO (\w+) (?=\{)/g)) {
    if (index < end) continue;
    const json = sliceObject(text, index + start.length);
    const input = parseObject(json);
    end = index + start.length + json.length;
    if (input) orders.push({ name, input });
  }
  return orders;
}

/** Returns the text from the bracket at `from` to the one that closes it. */
function sliceObject(text: string, from: number): string {
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    if (text[index] === "{") depth += 1;
    if (text[index] === "}") depth -= 1;
    if (depth === 0) return text.slice(from, index + 1);
  }
  return "";
}

const maxQuoting = 5;

function parseObject(json: string): object | undefined {
  let text = json;
  for (let level = 0; level < maxQuoting; level++) {
    try {
      return JSON.parse(text);
    } catch {
      text = text.replace(/\\(.)/g, "$1"); // quoted once more
    }
  }
  return undefined;
}
