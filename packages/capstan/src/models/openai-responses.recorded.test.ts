import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { addChunk, buildParts, createMessageBuilder } from "../kernel/calls/message-builder.ts";
import type { AssistantEntry, CallPart, Entry, ResultEntry } from "../kernel/history.ts";
import type { Chunk, ModelRequest } from "../kernel/model.ts";
import { openAiResponses } from "./openai-responses.ts";

// Recorded traffic lies beside the project and is no part of it.
const recordings = new URL("../../../../../shared/wire/", import.meta.url);
const isAbsent = !existsSync(recordings);

type Item = Record<string, unknown>;
type Exchange = {
  readonly family: string;
  readonly request: { readonly body: Item };
  readonly response: { readonly status: number; readonly form: string; readonly body: unknown };
};
type Expected = {
  readonly text_from_deltas: string;
  readonly status: string;
  readonly output: readonly Item[];
  readonly usage: { readonly [field: string]: unknown };
};

function json<Value>(file: string): Value {
  return JSON.parse(readFileSync(new URL(file, recordings), "utf8")) as Value;
}

const exchangesOf = (file: string): readonly Exchange[] =>
  json<{ interactions: readonly Exchange[] }>(file).interactions;

function read<Value>(make: () => readonly Value[]): readonly Value[] {
  return isAbsent ? [] : make();
}

const streams = read(() =>
  json<{ file: string; interaction: number; family: string; expected: Expected }[]>(
    "expected-from-vendor-sdks.json",
  ).filter(({ family }) => family === "openai-responses"),
);

const wholeAnswers = read(
  () =>
    json<{ file: string }[]>("index.json")
      .filter(({ file }) => /^(langchain|openllmetry)\//.test(file))
      .flatMap(({ file }) => exchangesOf(file).map((exchange, at) => ({ name: `${file} ${at}`, exchange })))
      .filter(
        ({ exchange: { family, response } }) =>
          family === "openai-responses" && response.form === "json" && response.status === 200,
      )
      .map(({ name, exchange }) => ({ name, body: exchange.response.body as Item & Expected }))
      .filter(({ body }) => body.object === "response"), // some are embeddings, under the same family
);

/** Edited by hand by those who recorded them: pieces of the text are missing, or the last event is no JSON. */
const edited = [
  "parallel-tool-call-wrapper.1",
  "openai-phase.1",
  "openai-shell-container.1",
  "openai-shell-tool.1",
];

const folders = [
  "vercel-ai/openai/responses/",
  "vercel-ai/open-responses/responses/",
  "vercel-ai/xai/responses/",
];

const bodies = read(() =>
  folders
    .flatMap((folder) => readdirSync(new URL(folder, recordings)).map((file) => folder + file))
    .filter((file) => file.endsWith(".json"))
    .map((name) => ({ name, body: json<Item & Expected>(name) }))
    .filter(({ body }) => body.object === "response"),
);

const payloads = read(() =>
  folders.flatMap((folder) =>
    readdirSync(new URL(folder, recordings))
      .filter((file) => file.endsWith(".chunks.txt") && !file.startsWith("openai-error"))
      .filter((file) => !edited.some((name) => file.startsWith(`${name}.`)))
      .flatMap((file) => answersIn(folder + file)),
  ),
);

/** One JSON text per event; a file may have several answers. */
function answersIn(file: string): { name: string; events: { data: string }[] }[] {
  const lines = readFileSync(new URL(file, recordings), "utf8").split("\n").filter(Boolean);
  const answers: { name: string; events: { data: string }[] }[] = [];
  for (const data of lines) {
    const { type } = JSON.parse(data) as { type: string };
    if (type === "response.created") answers.push({ name: `${file} ${answers.length}`, events: [] });
    answers.at(-1)?.events.push({ data });
  }
  return answers;
}

const links = read(() =>
  json<{ file: string; links: { from: number; to: number; clean: boolean }[] }[]>("loop-links.json")
    .filter(({ file }) => file.includes("/openai-responses/"))
    .flatMap(({ file, links: all }) => all.filter(({ clean }) => clean).map((link) => ({ file, ...link }))),
);

function events(body: string): { event: string | undefined; data: string }[] {
  return body
    .split(/\r?\n\r?\n/)
    .map((frame) => frame.split(/\r?\n/))
    .map((frame) => ({ event: field(frame, "event"), data: field(frame, "data") ?? "" }))
    .filter(({ data }) => data !== "");
}

function field(frame: readonly string[], name: string): string | undefined {
  return frame
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim();
}

function chunksOf(all: readonly { event?: string | undefined; data: string }[]): Chunk[] {
  const reader = openAiResponses.reader();
  return all.flatMap((event) => [...reader.read(event)]);
}

function assembled(chunks: readonly Chunk[]) {
  const message = createMessageBuilder((id, index) => id ?? `call_${index}`);
  for (const chunk of chunks) addChunk(message, chunk);
  const parts = buildParts(message);
  const entry: AssistantEntry = { type: "assistant", parts };
  const calls = parts.filter((part): part is CallPart => part.type === "call");
  return {
    entry,
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    reasoning: parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
    calls: calls.map(({ id, name, input, raw }) => ({ id, name, input, raw })),
    finish: message.stopReason,
    usage: message.usage,
  };
}

function textsIn(parts: unknown): string[] {
  return Array.isArray(parts) ? parts.map((part: Item) => String(part.text ?? "")) : [];
}

/** What the provider's own SDK made of the answer, in our words. */
function expectedOf({ output, usage, status }: Expected) {
  const calls = output.filter(({ type }) => type === "function_call");
  const details = usage as Record<string, Item & number>;
  const [read, said] = [details.input_tokens_details, details.output_tokens_details];
  const ended = calls.length > 0 ? "tool_calls" : "end";
  return {
    text: output
      .filter(({ type }) => type === "message")
      .flatMap(({ content }) => textsIn(content))
      .join(""),
    reasoning: output
      .filter(({ type }) => type === "reasoning")
      .map(({ summary, content }) => [...textsIn(summary), ...textsIn(content)].join("\n\n")),
    calls: calls.map(({ call_id, name, arguments: text }) => ({
      id: call_id,
      name,
      input: JSON.parse(String(text) || "{}"),
      raw: undefined,
    })),
    finish: status === "incomplete" ? "length" : ended,
    usage: {
      inputTokens: details.input_tokens,
      outputTokens: details.output_tokens,
      ...(read && { cachedTokens: read.cached_tokens }),
      ...(said && { reasoningTokens: said.reasoning_tokens }),
    },
  };
}

const request = (history: readonly Entry[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: "",
  history,
  tools: [],
  toolChoice: "auto",
  thinking: false,
  ...more,
});

function sent(history: readonly Entry[], more: Partial<ModelRequest> = {}): Item & { input: Item[] } {
  return JSON.parse(openAiResponses.toRequest(request(history, more), { model: "gpt-5", stream: true }));
}

const hasReadableReasoning = ({ type, encrypted_content, content }: Item): boolean =>
  type !== "reasoning" ||
  typeof encrypted_content === "string" ||
  (Array.isArray(content) && content.length > 0);

/**
 * An item as it may be compared. Left out, with the reason: `status` of what is written anew (the API does not want
 * it), null fields (refused), log probabilities; `encrypted_content`, which the API writes anew in every event.
 */
function comparable(item: Item, isWhole: boolean): Item {
  const { status, encrypted_content: _encrypted, id, ...rest } = item;
  const isRewritten = ["message", "function_call"].includes(String(rest.type));
  const fields: Item = {
    ...rest,
    ...(!isRewritten && status !== undefined && { status }),
    ...((isWhole || !isRewritten) && { id }),
  };
  if (rest.type === "function_call") fields.arguments = JSON.parse(String(rest.arguments) || "{}");
  if (rest.type === "message" && Array.isArray(rest.content))
    fields.content = rest.content.map(({ logprobs: _logprobs, ...part }: Item) => ({
      ...part,
      ...(part.type === "output_text" && { annotations: part.annotations ?? [] }),
    }));
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

function expectSameItems(back: readonly Item[], output: readonly Item[]): void {
  const isWhole = output.every(hasReadableReasoning);
  const kept = output.filter(
    (item) =>
      (isWhole || item.type !== "reasoning") &&
      !(item.type === "message" && textsIn(item.content).join("") === ""),
  );
  while (kept.at(-1)?.type === "reasoning") kept.pop();
  expect(back.map((item) => comparable(item, isWhole))).toEqual(
    kept.map((item) => comparable(item, isWhole)),
  );
}

describe.skipIf(isAbsent)("recorded answers of the responses API", () => {
  it("all exist (F15)", () => {
    expect(streams).toHaveLength(141);
    expect(wholeAnswers.length).toBeGreaterThan(70);
    expect(bodies.length).toBeGreaterThan(30);
    expect(payloads.length).toBeGreaterThan(35);
  });

  it.each(
    streams,
  )("$file $interaction: the stream yields the same response as the vendor's SDK (F15)", (stream) => {
    const body = String(exchangesOf(stream.file)[stream.interaction]?.response.body);
    const { entry, ...message } = assembled(chunksOf(events(body)));
    expect(message).toEqual(expectedOf(stream.expected));
    expect(message.text).toBe(stream.expected.text_from_deltas);
    expectSameItems(sent([entry]).input, stream.expected.output);
  });

  it.each(streams)("$file $interaction: truncated anywhere, the stream has no finish (F15)", (stream) => {
    const all = events(String(exchangesOf(stream.file)[stream.interaction]?.response.body));
    const last = all.findIndex(
      ({ event }) => event === "response.completed" || event === "response.incomplete",
    );
    expect(last).toBeGreaterThan(0);
    expect(chunksOf(all.slice(0, last)).some(({ type }) => type === "finish")).toBe(false);
  });

  it.each([...wholeAnswers, ...bodies])("$name: a non-streamed response is read from its body (F15)", ({
    body,
  }) => {
    const { entry, ...message } = assembled(openAiResponses.fromJson(body));
    expect(message).toEqual(expectedOf(body));
    expectSameItems(sent([entry]).input, body.output);
  });

  it.each(payloads)("$name: the stream yields the content of its finished items (F15, F22)", ({
    events: all,
  }) => {
    const parsed = all.map(
      ({ data }) => JSON.parse(data) as { type: string; item: Item; response: Expected },
    );
    const output = parsed.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    const last = parsed.at(-1)?.response;
    const { entry, ...message } = assembled(chunksOf(all));
    expect(message).toEqual(expectedOf({ ...(last as Expected), output }));
    expectSameItems(sent([entry]).input, output);
  });
});

function inputOf({ request: { body } }: Exchange): readonly Item[] {
  const { input } = body;
  return typeof input === "string"
    ? [{ type: "message", role: "user", content: input }]
    : (input as Item[]).map((item) => ({ type: "message", ...item }));
}

const isSpoken = ({ type, role }: Item): boolean =>
  type !== "function_call_output" && (type !== "message" || role === "assistant");

/** The history that a recorded input was written from. */
function historyOf(items: readonly Item[]): Entry[] {
  const history: Entry[] = [];
  for (const item of items) {
    const last = history.at(-1);
    if (!isSpoken(item)) history.push(heardEntry(item));
    else if (last?.type === "assistant")
      history[history.length - 1] = { ...last, parts: [...last.parts, spokenPart(item)] };
    else history.push({ type: "assistant", parts: [spokenPart(item)] });
  }
  return history;
}

function heardEntry({ type, call_id, output, content }: Item): Entry {
  if (type === "function_call_output") return result(String(call_id), String(output));
  return { type: "user", content: typeof content === "string" ? content : textsIn(content).join("\n") };
}

const result = (callId: string, content: string): ResultEntry => ({
  type: "result",
  callId,
  name: "",
  status: "ok",
  content,
});

function spokenPart(item: Item): AssistantEntry["parts"][number] {
  const tagged = (data: Item): Json => ({
    wire: "openai-responses",
    data: data as { [field: string]: Json },
  });
  const { type, status: _status, role: _role, content, call_id, name, arguments: text, ...rest } = item;
  if (type === "message")
    return {
      type: "text",
      text: typeof content === "string" ? content : textsIn(content).join(""),
      opaque: tagged(rest),
    };
  if (type === "function_call")
    return {
      type: "call",
      id: String(call_id),
      name: String(name),
      input: JSON.parse(String(text)),
      opaque: tagged(rest),
    };
  if (type === "reasoning") return { type: "reasoning", text: "", opaque: tagged(item) };
  return { type: "opaque", data: tagged(item) };
}

/**
 * Recorded clients differ from this one in: ids (some send them, some do not, we do unless reasoning is missing), `status`,
 * `annotations: []`, content as a list of one text, and reasoning without its encrypted form, which they may send
 * because they let the provider store the conversation.
 */
function inSubstance(item: Item): Item {
  const { id: _id, status: _status, encrypted_content: _encrypted, ...rest } = item;
  if (rest.type === "function_call") return { ...rest, arguments: JSON.parse(String(rest.arguments)) };
  if (rest.type !== "message") return rest;
  const { content, ...head } = rest;
  return { ...head, text: typeof content === "string" ? content : textsIn(content).join("") };
}

function toolInSubstance(tool: Item): Item {
  const { strict: _strict, defer_loading: _deferred, ...rest } = tool;
  return rest;
}

describe.skipIf(isAbsent)("recorded loops of the responses API", () => {
  it("all exist (S1-30)", () => {
    expect(links.length).toBeGreaterThanOrEqual(20);
  });

  it.each(links)("$file $from to $to: the next request is the same (S1-30)", ({ file, from, to }) => {
    const exchanges = exchangesOf(file);
    const [before, after] = [exchanges[from] as Exchange, exchanges[to] as Exchange];
    const { form, body } = before.response;
    const answer = assembled(
      form === "sse" ? chunksOf(events(String(body))) : openAiResponses.fromJson(body),
    );
    const outputs = inputOf(after)
      .slice(inputOf(before).length)
      .filter(({ type }) => type === "function_call_output");
    const recordedTools = (after.request.body.tools ?? []) as Item[];
    const again = JSON.parse(
      openAiResponses.toRequest(
        request(
          [
            ...historyOf(inputOf(before)),
            answer.entry,
            ...outputs.map(({ call_id, output }) => result(String(call_id), String(output))),
          ],
          {
            instructions: String(after.request.body.instructions ?? ""),
            tools: recordedTools
              .filter(({ type }) => type === "function")
              .map((tool) => ({
                name: String(tool.name),
                description: String(tool.description),
                input: tool.parameters as Item,
              })),
          },
        ),
        {
          model: String(after.request.body.model),
          stream: after.request.body.stream === true,
          extra: { tools: recordedTools.filter(({ type }) => type !== "function") as Json[] as Json },
        },
      ),
    ) as Item & { input: Item[]; tools?: Item[] };
    expect(again.input.map(inSubstance)).toEqual(
      inputOf(after)
        .filter((item) => hasReadableReasoning(item))
        .map(inSubstance),
    );
    expect((again.tools ?? []).map(toolInSubstance)).toEqual(recordedTools.map(toolInSubstance));
    expect(again.instructions).toBe(after.request.body.instructions);
    expect(again.model).toBe(after.request.body.model);
    expect(again.stream).toBe(after.request.body.stream ?? false);
  });
});
