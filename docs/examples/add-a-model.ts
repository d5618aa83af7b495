// A client for Acme, a fictional provider that answers with one JSON object per line.

import {
  AgentError,
  type Chunk,
  defineAgent,
  defineTool,
  type Entry,
  type Json,
  type Model,
  type ModelRequest,
  run,
  type StopReason,
  toPlainText,
} from "capstan";

export type AcmeOptions = {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL?: string;
  /** Aborts the request after this time without data. */
  readonly idleMs?: number;
  readonly fetch?: typeof fetch;
};

/** Creates a model that calls Acme. */
export function acme({ model, apiKey, idleMs = 60_000, ...options }: AcmeOptions): Model {
  const { baseURL = "https://api.acme.example", fetch: post = fetch } = options;
  return {
    id: `acme/${model}`,
    async *stream(request, { signal }) {
      const silence = new AbortController();
      const stalled = new AgentError("model_timeout", "Acme stopped sending data.");
      const timer = setTimeout(() => silence.abort(stalled), idleMs);
      try {
        const response = await post(`${baseURL}/answers`, {
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(toRequest(model, request)),
          signal: AbortSignal.any([signal, silence.signal]),
        });
        if (!response.ok || !response.body) throw toError(response.status);
        const readLine = createLineReader();
        for await (const lines of readLines(response.body)) {
          timer.refresh();
          yield lines.map(readLine);
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Pure: builds the request body. */
export function toRequest(model: string, request: ModelRequest): object {
  const { instructions, history, tools, toolChoice, maxOutputTokens } = request;
  return {
    model,
    system: instructions,
    messages: history.map(toMessage),
    tools: tools.map(({ name, description, input }) => ({ name, description, schema: input })),
    choice: toolChoice,
    ...(maxOutputTokens !== undefined && { room: maxOutputTokens }),
  };
}

function toMessage(entry: Entry): Json {
  switch (entry.type) {
    case "user":
      return { from: "person", text: toPlainText(entry.content) };
    case "summary":
      return { from: "person", text: entry.text };
    case "result":
      return { from: "tool", id: entry.callId, text: toPlainText(entry.content) };
    case "assistant":
      return {
        from: "model",
        said: entry.parts.flatMap((part): Json[] => {
          if (part.type === "text") return [part.text];
          return part.type === "call" ? [{ id: part.id, name: part.name, input: part.input }] : [];
        }),
      };
  }
}

type Line = {
  /** Id of the answer, in every line. */
  readonly answer: string;
  readonly say?: string;
  readonly call?: { readonly index: number; readonly id: string; readonly name: string };
  readonly arguments?: { readonly index: number; readonly text: string };
  readonly used?: { readonly in: number; readonly out: number };
  readonly end?: "stop" | "calls" | "length" | "filter";
  readonly error?: string;
};

const stopReasons: { readonly [end: string]: StopReason } = {
  stop: "end",
  calls: "tool_calls",
  length: "length",
  filter: "content_filter",
};

/** Reads the lines of one response, in order. A line of another answer means that a gateway has started over. */
export function createLineReader(): (text: string) => Chunk {
  let answer: string | undefined;
  return (text) => {
    const line = parseLine(text);
    answer ??= line.answer;
    if (line.answer === answer) return fromLine(line);
    throw new AgentError("stream_inconsistent", "Acme started a second answer in the same stream.");
  };
}

/** Pure: converts one line of the response. */
function fromLine(line: Line): Chunk {
  if (line.error !== undefined) throw new AgentError("model_overloaded", `Acme says: ${line.error}`);
  if (line.say !== undefined) return { type: "text", text: line.say };
  if (line.call) return { type: "call_start", ...line.call };
  if (line.arguments) return { type: "call_delta", ...line.arguments };
  if (line.used) return { type: "usage", usage: { inputTokens: line.used.in, outputTokens: line.used.out } };
  return { type: "finish", reason: stopReasons[line.end ?? ""] ?? "other" };
}

function parseLine(text: string): Line {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgentError("bad_chunk", "Acme sent a line that is not JSON.", { cause });
  }
}

/** The error code tells the runtime whether to retry. */
function toError(status: number): AgentError {
  const message = `Acme answered with status ${status}.`;
  if (status === 401) return new AgentError("model_auth", message);
  if (status === 404) return new AgentError("model_not_found", message);
  if (status === 429) return new AgentError("model_rate_limited", message);
  return new AgentError(status >= 500 ? "model_overloaded" : "model_rejected", message);
}

/** Yields the complete lines of each read. A read can end anywhere, even inside a character. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield lines.filter((line) => line !== "");
  }
}

// As a program it uses no network: these are the responses.
if (import.meta.main) {
  const answers = [
    '{"call":{"index":0,"id":"c1","name":"tide"}}\n{"arguments":{"index":0,"text":"{\\"port\\":\\"Brest\\"}"}}\n{"end":"calls"}\n',
    '{"say":"High water is "}\n{"say":"at 6:40."}\n{"used":{"in":40,"out":9}}\n{"end":"stop"}\n',
  ];
  const sent: string[] = [];
  const canned: typeof fetch = async (_, init) => {
    sent.push(String(init?.body));
    return new Response(answers[sent.length - 1] ?? null);
  };

  const tide = defineTool({
    name: "tide",
    description: "High water at a port",
    input: { port: { type: "string", required: true } },
    effects: "none",
    execute: ({ port }) => `${port}: 6:40`,
  });
  const model = acme({ model: "sailor-1", apiKey: "none", fetch: canned });
  const result = await run(defineAgent({ name: "harbour", model, tools: [tide] }), "When is high water?");
  console.log(`${result.text} (${sent.length} requests)`);
  console.log(JSON.stringify(JSON.parse(sent[1] ?? "").messages.at(-1)));
}
