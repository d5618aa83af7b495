// The floor: the minimum cost of a loop. `fetch`, one decoder, one JSON.parse per event, the whole history serialized
// again for each request. No checks, no errors, no events except the text.
import { type Adapter, instructions, type RunPrompt, type Target } from "../../adapter.ts";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";

export type FloorCall = { id: string; name: string; arguments: string };
export type FloorResponse = { text: string; calls: FloorCall[] };

/** One provider's API. `Entry` is its history format. */
export type Dialect<Entry> = {
  readonly path: string;
  readonly headers: Record<string, string>;
  system(text: string): Entry[];
  user(text: string): Entry;
  body(entries: readonly Entry[], tool: Target["tool"]): object;
  /** Adds one parsed event to the response and returns its text. */
  // biome-ignore lint/suspicious/noExplicitAny: the floor trusts its input
  read(event: any, toEntries: FloorResponse): string | undefined;
  toEntries(toEntries: FloorResponse): Entry[];
  result(call: FloorCall, result: string): Entry;
};

const dialects = { chat, responses, anthropic, gemini };

export const adapter: Adapter = {
  wires: ["chat", "responses", "anthropic", "gemini"],
  connect: (target) => createLoop(dialects[target.wire] as Dialect<object>, target),
};

function createLoop(dialect: Dialect<object>, { baseUrl, tool }: Target): RunPrompt {
  const url = baseUrl + dialect.path;
  const headers = { "content-type": "application/json", ...dialect.headers };
  return async (prompt, onText) => {
    const entries = [...dialect.system(instructions), dialect.user(prompt)];
    for (let turns = 1; ; turns++) {
      const body = JSON.stringify(dialect.body(entries, tool));
      const response = await fetch(url, { method: "POST", headers, body });
      if (!response.ok || !response.body) throw new Error(await response.text());
      const message: FloorResponse = { text: "", calls: [] };
      await readEvents(response.body, (event) => {
        const text = dialect.read(event, message);
        if (text) onText(text);
      });
      if (message.calls.length === 0) return { text: message.text, turns };
      entries.push(...dialect.toEntries(message));
      for (const call of message.calls)
        entries.push(dialect.result(call, tool.execute(JSON.parse(call.arguments))));
    }
  };
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: unknown) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const text = rest + decoder.decode(bytes, { stream: true });
    let from = 0;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
      const at = text.indexOf("data: ", from) + 6;
      if (text[at] !== "[") onEvent(JSON.parse(text.slice(at, end)));
      from = end + 2;
    }
    rest = text.slice(from);
  }
}
