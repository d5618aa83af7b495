// The floor: what a loop costs at the least. `fetch`, one decoder, one JSON.parse per event, the whole history
// written anew for each request. No checks, no errors, no events beside the text.
import { type Adapter, type Ask, instructions, type Target } from "../../adapter.ts";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";

export type FloorCall = { id: string; name: string; arguments: string };
export type Said = { text: string; calls: FloorCall[] };

/** One provider's API. `Entry` is what it keeps as history. */
export type Dialect<Entry> = {
  readonly path: string;
  readonly headers: Record<string, string>;
  system(text: string): Entry[];
  user(text: string): Entry;
  body(entries: readonly Entry[], tool: Target["tool"]): object;
  /** Adds one parsed event to what was said; gives the text in it. */
  // biome-ignore lint/suspicious/noExplicitAny: the floor trusts what it reads
  read(event: any, said: Said): string | undefined;
  said(said: Said): Entry[];
  result(call: FloorCall, result: string): Entry;
};

const dialects = { chat, responses, anthropic, gemini };

export const adapter: Adapter = {
  wires: ["chat", "responses", "anthropic", "gemini"],
  connect: (target) => loopOn(dialects[target.wire] as Dialect<object>, target),
};

function loopOn(dialect: Dialect<object>, { baseUrl, tool }: Target): Ask {
  const url = baseUrl + dialect.path;
  const headers = { "content-type": "application/json", ...dialect.headers };
  return async (prompt, hear) => {
    const entries = [...dialect.system(instructions), dialect.user(prompt)];
    for (let turns = 1; ; turns++) {
      const body = JSON.stringify(dialect.body(entries, tool));
      const response = await fetch(url, { method: "POST", headers, body });
      if (!response.ok || !response.body) throw new Error(await response.text());
      const said: Said = { text: "", calls: [] };
      await listen(response.body, (event) => {
        const text = dialect.read(event, said);
        if (text) hear(text);
      });
      if (said.calls.length === 0) return { text: said.text, turns };
      entries.push(...dialect.said(said));
      for (const call of said.calls)
        entries.push(dialect.result(call, tool.execute(JSON.parse(call.arguments))));
    }
  };
}

async function listen(body: ReadableStream<Uint8Array>, onEvent: (event: unknown) => void): Promise<void> {
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
