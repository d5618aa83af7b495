import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createParser } from "eventsource-parser";
import { describe, expect, it } from "vitest";
import type { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import {
  addChunk,
  buildParts,
  createMessageBuilder,
  type MessageBuilder,
} from "../kernel/calls/message-builder.ts";
import { parseArguments } from "../kernel/calls/parse-arguments.ts";
import type { AssistantPart, Entry, Part } from "../kernel/history.ts";
import type { Chunk, ModelRequest, StopReason, ToolSpec } from "../kernel/model.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import type { Wire, WireEvent } from "./wire.ts";

const root = fileURLToPath(new URL("../../../../../shared/wire/", import.meta.url));
const isAbsent = !existsSync(root);

// biome-ignore lint/suspicious/noExplicitAny: recordings have every shape
type Loose = any;
const load = (file: string): Loose => JSON.parse(readFileSync(root + file, "utf8"));
const wires: Record<string, Wire> = { "openai-chat": openAiChat, "openai-compat": createChatWire({}) };

type Expected = {
  readonly content: string;
  readonly refusal: string;
  readonly reasoning?: string;
  readonly tool_calls: readonly { id: string; name: string; arguments: string }[];
  readonly finish_reason: string;
  readonly usage: Loose;
};
type Stream = { file: string; interaction: number; family: string; expected: Expected };

const streams: readonly Stream[] = isAbsent
  ? []
  : load("expected-from-vendor-sdks.json").filter(({ family }: Stream) => family in wires);
const sessions = isAbsent ? [] : globSync("*/{openai-chat,openai-compat,mixed}/*.json", { cwd: root }).sort();

/** The one deviation: the vendor's SDK does not see the usage that five streams of Groq have in `x_groq`. */
function usageOfGroq(events: readonly WireEvent[]): Loose {
  const told = events.findLast(({ data }) => data.includes('"x_groq"') && data.includes('"usage"'));
  return told && JSON.parse(told.data).x_groq.usage;
}

/** Files of other providers in the form of chat completions, one payload per line; there, nobody says what to expect. */
const payloads = isAbsent
  ? []
  : globSync(
      "vercel-ai/{alibaba,xai,perplexity,mistral,groq,moonshotai,deepseek/chat,openai-compatible/chat,openai/chat}/*",
      { cwd: root },
    ).filter((file) => !/transcription|parameter-error/.test(file));

function eventsOf(body: string): WireEvent[] {
  const events: WireEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data }) });
  parser.feed(body);
  parser.feed("\n\n");
  return events;
}

function assembled(chunks: readonly Chunk[]): MessageBuilder {
  const message = createMessageBuilder((id, index) => id ?? `made_${index}`);
  for (const chunk of chunks) addChunk(message, chunk);
  return message;
}

function streamed(wire: Wire, events: readonly WireEvent[]): MessageBuilder {
  const reader = wire.reader();
  return assembled(events.flatMap((event) => [...reader.read(event)]));
}

function said(message: MessageBuilder) {
  const parts = buildParts(message);
  const joined = (type: "text" | "reasoning") =>
    parts.map((part) => (part.type === type ? part.text : "")).join("");
  return {
    text: joined("text"),
    reasoning: joined("reasoning"),
    calls: parts
      .filter((part) => part.type === "call")
      .map(({ id, name, input, raw }) => ({ id, name, input, ...(raw !== undefined && { raw }) })),
    finish: message.stopReason,
    usage: message.usage && {
      input: message.usage.inputTokens,
      output: message.usage.outputTokens,
      cached: message.usage.cachedTokens ?? 0,
      reasoning: message.usage.reasoningTokens ?? 0,
    },
  };
}

function usageIn(usage: Loose) {
  if (!usage) return undefined;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning,
  };
}

function finishIn(reason: string, calls: number): StopReason {
  if (reason === "length" || reason === "content_filter") return reason;
  return calls > 0 ? "tool_calls" : "end";
}

function callIn({ id, name, arguments: text }: { id: string; name: string; arguments: string }) {
  const parsed = parseArguments(text);
  return { id, name, ...(parsed.ok ? { input: parsed.input } : { input: {}, raw: text }) };
}

describe.skipIf(isAbsent)("recorded streams of chat completions", () => {
  it.each(
    streams.map((stream) => [stream.file.replace(/^.*\//, ""), stream] as const),
  )("%s yields the same response as the vendor's SDK (S1-05) (S1-07) (D-09)", (_, {
    file,
    interaction,
    family,
    expected,
  }) => {
    const { body } = load(file).interactions[interaction].response;
    const events = eventsOf(body);
    const { usage, ...rest } = said(streamed(wires[family] as Wire, events));
    expect(rest).toEqual({
      text: expected.content + expected.refusal,
      reasoning: expected.reasoning ?? "",
      calls: expected.tool_calls.map(callIn),
      finish: finishIn(expected.finish_reason, expected.tool_calls.length),
    });
    expect(usage).toEqual(usageIn(expected.usage ?? usageOfGroq(events)));
  });

  it("all recordings exist", () => {
    expect(streams.filter(({ family }) => family === "openai-chat")).toHaveLength(80);
    expect(streams.filter(({ family }) => family === "openai-compat")).toHaveLength(44);
  });

  it("truncated at any event, a stream never has a finish before its end (S1-30)", () => {
    for (const { file, interaction, family } of streams) {
      const events = eventsOf(load(file).interactions[interaction].response.body);
      const reader = (wires[family] as Wire).reader();
      let isOver = false;
      for (const event of events) {
        // The strict wire waits for `[DONE]`, a lenient one for the finish reason.
        isOver ||=
          family === "openai-chat" ? event.data === "[DONE]" : /"finish_reason":\s*"/.test(event.data);
        const finishes = reader.read(event).filter(({ type }) => type === "finish");
        expect(isOver || finishes.length === 0).toBe(true);
      }
    }
  });
});

describe.skipIf(isAbsent)("recorded whole answers of chat completions", () => {
  it("each yields its own text, calls, finish and usage (S1-08) (S3-19)", () => {
    let answers = 0;
    for (const file of sessions) {
      for (const { family, response } of load(file).interactions) {
        const wire = wires[family];
        if (!wire || response.form !== "json" || response.status !== 200) continue;
        if (response.body.error) continue;
        // Where Azure filtered the answer, there is no message.
        const { message = {}, finish_reason } = response.body.choices[0];
        const calls = [...(message.tool_calls ?? [])].map((call: Loose) => ({
          id: call.id,
          ...call.function,
        }));
        if (message.function_call) calls.push({ id: "made_0", ...message.function_call });
        expect(said(assembled(wire.fromJson(response.body))), file).toEqual({
          text: message.content ?? message.refusal ?? "",
          reasoning: message.reasoning_content ?? message.reasoning ?? "",
          calls: calls.map(callIn),
          finish: message.refusal ? "refusal" : finishIn(finish_reason, calls.length),
          usage: usageIn(response.body.usage),
        });
        answers++;
      }
    }
    expect(answers).toBe(373);
  });

  it("errors in place of an answer are errors, also with the status of an answer (S1-30)", () => {
    const codes = sessions
      .flatMap((file) => load(file).interactions)
      .filter(({ family, response }: Loose) => wires[family] && response.body.error)
      .map(({ family, response }: Loose) => {
        try {
          return wires[family]?.fromJson(response.body);
        } catch (thrown) {
          return `${response.status} ${(thrown as AgentError).code}`;
        }
      });
    expect(codes.sort()).toEqual([
      ...Array(3).fill("200 content_filter"),
      ...Array(3).fill("400 model_rejected"),
      ...Array(4).fill("404 model_not_found"),
    ]);
  });
});

describe.skipIf(isAbsent)("recorded payloads of compatible servers", () => {
  const wire = createChatWire({});
  const ofLines = (text: string) => text.split("\n").filter((line) => line.trim() !== "");

  it.each(
    payloads.filter((file) => file.endsWith(".txt")),
  )("%s yields a finished message (D-06) (D-09)", (file) => {
    const lines = ofLines(readFileSync(root + file, "utf8"));
    const message = streamed(
      wire,
      lines.map((data) => ({ data })),
    );
    const chunks: Loose[] = lines.map((line) => JSON.parse(line));
    const deltas = chunks.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta ?? {});
    const { text, reasoning, calls, finish, usage } = said(message);
    const named = deltas.flatMap(({ tool_calls }) => tool_calls ?? []).filter((call) => call.function?.name);
    expect(text).toBe(deltas.map(({ content }) => plain(content, "text")).join(""));
    expect(reasoning).toBe(
      deltas
        .map((delta) => delta.reasoning_content ?? delta.reasoning ?? plain(delta.content, "thinking"))
        .join(""),
    );
    expect(calls.map(({ name }) => name)).toEqual(named.map((call) => call.function.name));
    expect(calls.map(({ raw }) => raw).filter((raw) => raw !== undefined)).toEqual([]);
    const reason = chunks.flatMap(({ choices }) => choices ?? []).findLast((choice) => choice.finish_reason);
    expect(finish).toBe(finishIn(reason.finish_reason, named.length));
    expect(usage?.output).toBeGreaterThan(0);
  });

  it.each(payloads.filter((file) => file.endsWith(".json")))("%s gives a finished message", (file) => {
    const body = load(file);
    const [{ message, finish_reason }] = body.choices;
    const calls: Loose[] = message.tool_calls ?? [];
    const { text, finish, ...rest } = said(assembled(wire.fromJson(body)));
    expect(text).toBe(plain(message.content, "text"));
    expect(finish).toBe(finishIn(finish_reason, calls.length));
    expect(rest.calls).toEqual(calls.map((call) => callIn({ id: call.id, ...call.function })));
  });

  function plain(content: Loose, type: "text" | "thinking"): string {
    if (!Array.isArray(content)) return type === "text" ? (content ?? "") : "";
    const parts = content.filter((part) => part.type === type);
    return parts.map((part) => part.text ?? part.thinking.map(({ text }: Loose) => text).join("")).join("");
  }
});

/** A history that says what recorded messages say. */
function historyOf(messages: readonly Loose[]): Entry[] {
  return messages
    .filter(({ role }) => role !== "system" && role !== "developer")
    .map((message): Entry => {
      if (message.role === "user") return { type: "user", content: contentOf(message.content) };
      if (message.role === "tool")
        return {
          type: "result",
          callId: message.tool_call_id,
          name: "",
          status: "ok",
          content: message.content,
        };
      return { type: "assistant", parts: partsIn(message) };
    });
}

function contentOf(content: Loose): string | Part[] {
  if (typeof content === "string") return content;
  return content.map(
    (part: Loose): Part =>
      part.type === "text"
        ? { type: "text", text: part.text }
        : dataUrl(part.image_url.url ?? part.image_url),
  );
}

function dataUrl(url: string): Part {
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType && data
    ? { type: "image", mediaType, data }
    : { type: "image", mediaType: "image/*", url };
}

function partsIn({ content, tool_calls = [] }: Loose): AssistantPart[] {
  const calls = (tool_calls ?? []).map((call: Loose) => ({
    type: "call",
    ...callIn({ id: call.id, ...call.function }),
  }));
  return [...(content ? [{ type: "text", text: content }] : []), ...calls];
}

/**
 * Recorded messages as they are compared. What clients do differently, and means the same: `developer` for `system`; no
 * content, null or "" beside calls; spaces in arguments; lists of one text; further fields (`name`, `refusal`).
 */
function comparable({ role, content, tool_calls, tool_call_id }: Loose): Json {
  const text =
    Array.isArray(content) && content.length === 1 && content[0].type === "text" ? content[0].text : content;
  return {
    role: role === "developer" ? "system" : role,
    content: Array.isArray(text) ? text.map(({ type, ...part }) => ({ type, ...urlOf(part) })) : text || null,
    ...(tool_calls?.length > 0 && {
      calls: tool_calls.map((call: Loose) => callIn({ id: call.id, ...call.function })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
}

function urlOf({ image_url, text }: Loose): Loose {
  return image_url === undefined ? { text } : { url: image_url.url ?? image_url };
}

function requestOf(body: Loose, history: readonly Entry[]): ModelRequest {
  const tools: ToolSpec[] = (body.tools ?? []).map(({ function: fn }: Loose) => ({
    name: fn.name,
    description: fn.description,
    input: fn.parameters,
  }));
  const [first] = body.messages;
  const instructions = first.role === "system" || first.role === "developer" ? first.content : "";
  return { instructions, history, tools, toolChoice: "auto", thinking: false };
}

describe.skipIf(isAbsent)("recorded requests of chat completions", () => {
  const links: Loose[] = isAbsent
    ? []
    : load("loop-links.json").filter(({ file }: Loose) => /openai-(chat|compat)/.test(file));
  const clean = links.flatMap(({ file, links: of }) =>
    of
      .filter((link: Loose) => link.clean)
      .map(({ from, to }: Loose) => [file.replace(/^.*\//, ""), file, from, to] as const),
  );

  it.each(
    clean,
  )("%s: the answer and its results make the next request (S1-16) (S3-26)", (_, file, from, to) => {
    const { interactions } = load(file);
    const [before, after] = [interactions[from], interactions[to]];
    const wire = wires[before.family] as Wire;
    const { form, body } = before.response;
    const answer = form === "sse" ? streamed(wire, eventsOf(body)) : assembled(wire.fromJson(body));
    const known: Loose[] = before.request.body.messages;
    const results = after.request.body.messages
      .slice(known.length)
      .filter(({ role }: Loose) => role === "tool");
    const history: Entry[] = [
      ...historyOf(known),
      { type: "assistant", parts: buildParts(answer) },
      ...historyOf(results),
    ];
    const settings = { model: after.request.body.model, stream: after.request.body.stream === true };
    const made = JSON.parse(wire.toRequest(requestOf(before.request.body, history), settings));
    expect(made.messages.map(comparable)).toEqual(after.request.body.messages.map(comparable));
    expect(made.tools).toEqual(after.request.body.tools);
    expect(made.model).toBe(after.request.body.model);
  });

  it("there are six clean links", () => expect(clean).toHaveLength(6));

  it("the messages and tools of each are rebuilt from an equivalent history (S1-04) (S2-52)", () => {
    let requests = 0;
    const leftOut: string[] = [];
    for (const file of sessions) {
      for (const { family, request } of load(file).interactions) {
        const wire = wires[family];
        const { body } = request;
        if (!wire || !Array.isArray(body?.messages)) continue;
        const roles = body.messages.map(({ role }: Loose) => role);
        // Forms of the API that `tools` replaced, and instructions in the middle.
        if (
          roles.includes("function") ||
          roles.slice(1).some((role: string) => role === "system" || role === "developer")
        ) {
          leftOut.push(file);
          continue;
        }
        const settings = { model: body.model, stream: false };
        const made = JSON.parse(wire.toRequest(requestOf(body, historyOf(body.messages)), settings));
        expect(made.messages.map(comparable), file).toEqual(body.messages.map(comparable));
        const tools = (body.tools ?? []).map(({ function: { strict: _, ...fn } }: Loose) => ({
          type: "function",
          function: fn,
        }));
        expect(made.tools ?? [], file).toEqual(tools);
        requests++;
      }
    }
    expect([requests, leftOut.length]).toEqual([507, 0]);
  });
});
