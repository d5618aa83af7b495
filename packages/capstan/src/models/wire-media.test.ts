import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { addChunk, buildParts, createMessageBuilder } from "../kernel/calls/message-builder.ts";
import type { AssistantPart, Entry, MediaPart } from "../kernel/history.ts";
import type { Chunk } from "../kernel/model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { fromAiSdk } from "./from-ai-sdk.ts";
import { geminiContent } from "./gemini-content.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";
import { type WireName, wireMessages, wireNames } from "./wire-request.ts";
import { withoutFiles } from "./without-files.ts";

const png = "iVBORw0KGgoAAAANSUhEUg==";
const wires: { readonly [Name in WireName]: Wire } = {
  "openai-chat": openAiChat,
  "openai-responses": openAiResponses,
  anthropic: anthropicMessages,
  gemini: geminiContent,
};

/** The provider whose files a wire can name. */
const owners: { readonly [Name in WireName]: string } = {
  "openai-chat": "openai",
  "openai-responses": "openai",
  anthropic: "anthropic",
  gemini: "gemini",
};

function assemble(chunks: readonly Chunk[]): AssistantPart[] {
  const message = createMessageBuilder((id, index) => id ?? `call_${index}`);
  for (const chunk of chunks) addChunk(message, chunk);
  return buildParts(message);
}

const toJson = (value: unknown) => JSON.stringify(value);

const toStream = (parts: readonly unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

describe("a file at a provider", () => {
  const pairs = wireNames.flatMap((name) =>
    ["openai", "anthropic", "gemini"].map((provider) => ({ name, provider })),
  );

  it.each(
    pairs,
  )("of $provider is named in a request of $name only if it is its own, else its bytes are sent", async ({
    name,
    provider,
  }) => {
    const file = { provider, id: "the-file-id" };
    const pdf: MediaPart = { type: "file", mediaType: "application/pdf", data: "cGRm", file };
    const sent = toJson(await wireMessages(name, [{ type: "user", content: [pdf] }]));
    const isOwn = owners[name] === provider;
    expect([sent.includes("the-file-id"), sent.includes("cGRm")]).toEqual([isOwn, !isOwn]);
    expect(wires[name].acceptsMedia?.(pdf)).toBe(true);
  });

  it.each(pairs)("of $provider without bytes or URL is a placeholder for $name if it is another's", async ({
    name,
    provider,
  }) => {
    const part: MediaPart = {
      ...{ type: "file", mediaType: "application/pdf" },
      file: { provider, id: "the-file-id" },
    };
    const sent = toJson(await wireMessages(name, [{ type: "user", content: [part] }]));
    const isOwn = owners[name] === provider;
    expect([sent.includes("the-file-id"), sent.includes("[file application/pdf]")]).toEqual([isOwn, !isOwn]);
    expect(wires[name].acceptsMedia?.(part)).toBe(isOwn);
  });

  it.each(wireNames)("is replaced by its bytes on %s in a cloud that does not have it", (name) => {
    const file = { provider: owners[name], id: "the-file-id" };
    const part: MediaPart = { type: "file", mediaType: "application/pdf", data: "cGRm", file };
    const history: Entry[] = [{ type: "user", content: [part] }];
    const request = { instructions: "", history, tools: [], toolChoice: "auto", thinking: false } as const;
    const body = withoutFiles(wires[name]).toRequest(request, { model: "m", stream: true });
    expect([body.includes("the-file-id"), body.includes("cGRm")]).toEqual([false, true]);
  });

  it("has each API's own form", async () => {
    const getParts = async (name: WireName, part: MediaPart) => {
      const [message] = (await wireMessages(name, [{ type: "user", content: [part] }])) as {
        readonly content?: Json;
        readonly parts?: Json;
      }[];
      return message?.content ?? message?.parts;
    };
    const create = (provider: string, type: "image" | "file", mediaType: string): MediaPart => ({
      ...{ type, mediaType },
      file: { provider, id: "f1" },
    });
    expect([
      await getParts("openai-responses", create("openai", "image", "image/png")),
      await getParts("openai-responses", create("openai", "file", "application/pdf")),
      await getParts("openai-chat", create("openai", "file", "application/pdf")),
      await getParts("anthropic", create("anthropic", "image", "image/png")),
      await getParts("anthropic", create("anthropic", "file", "text/plain")),
      await getParts("gemini", create("gemini", "file", "video/mp4")),
    ]).toEqual([
      [{ type: "input_image", file_id: "f1", detail: "auto" }],
      [{ type: "input_file", file_id: "f1" }],
      [{ type: "file", file: { file_id: "f1" } }],
      [expect.objectContaining({ type: "image", source: { type: "file", file_id: "f1" } })],
      [expect.objectContaining({ type: "document", source: { type: "file", file_id: "f1" } })],
      [{ fileData: { mimeType: "video/mp4", fileUri: "f1" } }],
    ]);
  });
});

describe("media of every kind", () => {
  const kinds = ["image/png", "image/tiff", "application/pdf", "audio/mpeg", "video/mp4"];
  const accepted: { readonly [Name in WireName]: readonly string[] } = {
    "openai-chat": ["image/png", "image/tiff", "application/pdf", "audio/mpeg"],
    "openai-responses": ["image/png", "application/pdf"],
    anthropic: ["image/png", "application/pdf"],
    gemini: kinds,
  };

  it.each(wireNames)("are sent as bytes on %s, or as a placeholder that is reported", async (name) => {
    for (const mediaType of kinds) {
      const part: MediaPart = {
        ...{ type: mediaType.startsWith("image/") ? ("image" as const) : ("file" as const) },
        ...{ mediaType, data: "Ynl0ZXM=" },
      };
      const sent = toJson(await wireMessages(name, [{ type: "user", content: [part] }]));
      expect([mediaType, sent.includes("Ynl0ZXM=")]).toEqual([mediaType, accepted[name].includes(mediaType)]);
      expect([mediaType, wires[name].acceptsMedia?.(part)]).toEqual([
        mediaType,
        accepted[name].includes(mediaType),
      ]);
    }
  });

  it.each(wireNames)("reach the model from the result of a tool on %s", async (name) => {
    const history: Entry[] = [
      { type: "user", content: "Look" },
      { type: "assistant", parts: [{ type: "call", id: "c1", name: "look", input: {} }] },
      {
        ...{ type: "result", callId: "c1", name: "look", status: "ok" },
        content: [{ type: "image", mediaType: "image/png", data: png }],
      },
    ];
    expect(toJson(await wireMessages(name, history))).toContain(png);
  });

  it("are sent as a video to servers that take it, and not after results where no user message may follow", () => {
    const video: MediaPart = { type: "file", mediaType: "video/mp4", url: "https://example.com/a.mp4" };
    expect(createChatWire({ name: "acme", videos: true }).acceptsMedia?.(video)).toBe(true);
    expect(createChatWire({ name: "acme" }).acceptsMedia?.(video)).toBe(false);
    const wire = createChatWire({ name: "acme", resultMedia: false });
    const history: Entry[] = [
      { type: "assistant", parts: [{ type: "call", id: "c1", name: "look", input: {} }] },
      {
        ...{ type: "result", callId: "c1", name: "look", status: "ok" },
        content: [{ type: "image", mediaType: "image/png", data: png }],
      },
    ];
    const request = { instructions: "", history, tools: [], toolChoice: "auto", thinking: false } as const;
    expect(wire.toRequest(request, { model: "m", stream: true })).not.toContain(png);
  });
});

/** Answers with an image, as each API has them. */
const imageAnswers = {
  "openai-responses": {
    status: "completed",
    output: [
      ...[
        {
          type: "image_generation_call",
          id: "ig_1",
          status: "completed",
          output_format: "webp",
          result: png,
        },
      ],
      { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Done." }] },
    ],
  },
  gemini: {
    candidates: [
      {
        content: {
          parts: [
            { inlineData: { mimeType: "image/png", data: "aWdub3JlZA==" }, thought: true },
            { text: "Done.", thoughtSignature: "s1" },
            { inlineData: { mimeType: "image/png", data: png }, thoughtSignature: "s2" },
          ],
        },
        finishReason: "STOP",
      },
    ],
  },
  "openai-chat": {
    choices: [
      {
        message: {
          content: "Done.",
          images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
        },
        finish_reason: "stop",
      },
    ],
  },
};

describe("a generated image", () => {
  const makers = Object.keys(imageAnswers) as (keyof typeof imageAnswers)[];

  it.each(makers)("of %s is media", (name) => {
    const media = assemble(wires[name].fromJson(imageAnswers[name])).filter(({ type }) => type === "media");
    expect(media).toEqual([
      expect.objectContaining({
        ...{ type: "media", data: png },
        mediaType: name === "openai-responses" ? "image/webp" : "image/png",
      }),
    ]);
  });

  const pairs = makers.flatMap((from) => wireNames.map((to) => ({ from, to })));

  it.each(pairs)("of $from is sent back to $to only if it is the same API, else it is a placeholder", async ({
    from,
    to,
  }) => {
    const parts = assemble(wires[from].fromJson(imageAnswers[from]));
    const history: Entry[] = [
      { type: "user", content: "Draw" },
      { type: "assistant", parts },
      { type: "user", content: "Brighter" },
    ];
    const sent = toJson(await wireMessages(to, history));
    const returns = from === to && from !== "openai-chat";
    expect([sent.includes(png), /\[image image\/(?:png|webp)\]/.test(sent)]).toEqual([returns, !returns]);
    expect(sent).toContain("Done.");
  });

  it("of the responses API is sent back as the item it came in", async () => {
    const parts = assemble(openAiResponses.fromJson(imageAnswers["openai-responses"]));
    expect(await wireMessages("openai-responses", [{ type: "assistant", parts }])).toEqual([
      { type: "image_generation_call", id: "ig_1", status: "completed", output_format: "webp", result: png },
      expect.objectContaining({ type: "message", id: "msg_1" }),
    ]);
  });

  it("of Gemini keeps its signature", async () => {
    const parts = assemble(geminiContent.fromJson(imageAnswers.gemini));
    const [, content] = (await wireMessages("gemini", [{ type: "assistant", parts }])) as { parts: Json }[];
    expect(content?.parts).toEqual([
      { text: "Done.", thoughtSignature: "s1" },
      { inlineData: { mimeType: "image/png", data: png }, thoughtSignature: "s2" },
    ]);
  });

  it("that is not base64 stays data of the provider", () => {
    const item = { type: "image_generation_call", id: "ig_1", status: "failed", result: "no!" };
    const parts = assemble(openAiResponses.fromJson({ status: "completed", output: [item] }));
    expect(parts).toEqual([{ type: "opaque", data: { wire: "openai-responses", data: item } }]);
  });

  it("of an AI SDK model is media, and is sent back to it alone", async () => {
    const prompts: Json[] = [];
    const create = (provider: string) =>
      fromAiSdk({
        ...{ specificationVersion: "v3", provider, modelId: "m" },
        async doStream(options) {
          prompts.push(JSON.parse(toJson(options)).prompt);
          const parts = [
            { type: "file", mediaType: "image/png", data: Buffer.from(png, "base64") },
            { type: "finish", finishReason: { unified: "stop" }, usage: {} },
          ];
          return { stream: toStream(parts) };
        },
      });
    const read = async (provider: string, history: readonly Entry[]) => {
      const chunks: Chunk[] = [];
      const request = { instructions: "", history, tools: [], toolChoice: "auto", thinking: false } as const;
      const { signal } = new AbortController();
      for await (const batch of create(provider).stream(request, { signal })) chunks.push(...batch);
      return assemble(chunks);
    };
    const parts = await read("acme", []);
    await read("acme", [{ type: "assistant", parts }]);
    await read("other", [{ type: "assistant", parts }]);
    expect(prompts.slice(1)).toEqual([
      [{ role: "assistant", content: [{ type: "file", mediaType: "image/png", data: png }] }],
      [{ role: "assistant", content: [{ type: "text", text: "[image image/png]" }] }],
    ]);
  });
});

describe("generated audio", () => {
  const samples = Buffer.from([1, 0, 2, 0, 3, 0, 4, 0]);
  const first = samples.subarray(0, 4).toString("base64");
  const second = samples.subarray(4).toString("base64");

  function readWav(parts: readonly AssistantPart[]) {
    const media = parts.filter((part) => part.type === "media");
    const bytes = Buffer.from(media[0]?.data ?? "", "base64");
    return {
      count: media.length,
      mediaType: media[0]?.mediaType,
      head: bytes.toString("latin1", 0, 4) + bytes.toString("latin1", 8, 12),
      rate: bytes.readUInt32LE(24),
      length: bytes.readUInt32LE(40),
      samples: bytes.subarray(44).equals(samples),
    };
  }

  it("of Gemini is joined and becomes a file that players recognize", () => {
    const mimeType = "audio/L16;codec=pcm;rate=16000";
    const reader = geminiContent.reader();
    const chunks = [
      { candidates: [{ content: { parts: [{ inlineData: { mimeType, data: first } }] } }] },
      { candidates: [{ content: { parts: [{ inlineData: { mimeType, data: second } }] } }] },
      { candidates: [{ finishReason: "STOP" }] },
    ].flatMap((answer) => reader.read({ data: toJson(answer) }));
    expect(readWav(assemble(chunks))).toEqual({
      ...{ count: 1, mediaType: "audio/wav", head: "RIFFWAVE", rate: 16_000, length: 8, samples: true },
    });
  });

  it("of chat completions is joined, and its transcript is the text", async () => {
    const reader = openAiChat.reader();
    const audio = (fields: Json) => ({ choices: [{ index: 0, delta: { audio: fields } }] });
    const chunks = [
      ...[audio({ id: "audio_1", transcript: "Hel" }), audio({ transcript: "lo", data: first })],
      ...[audio({ data: second }), audio({ expires_at: 1 })],
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ].flatMap((chunk) => reader.read({ data: toJson({ id: "1", ...chunk }) }));
    const parts = assemble([...chunks, ...reader.read({ data: "[DONE]" })]);
    expect(parts[0]).toEqual({ type: "text", text: "Hello" });
    expect(readWav(parts)).toMatchObject({ count: 1, rate: 24_000, samples: true });
    const sent = await wireMessages("openai-chat", [{ type: "assistant", parts }]);
    expect(sent).toEqual([{ role: "assistant", content: "Hello" }]);
  });

  it("that is not streamed keeps its format", () => {
    const data = Buffer.from("ID3 a song").toString("base64");
    const message = { content: null, audio: { id: "a", data, transcript: "La" } };
    const parts = assemble(openAiChat.fromJson({ choices: [{ message, finish_reason: "stop" }] }));
    expect(parts).toEqual([
      { type: "text", text: "La" },
      { type: "media", mediaType: "audio/mpeg", data },
    ]);
  });

  it("that is not base64 is a damaged answer", () => {
    const part = { inlineData: { mimeType: "audio/wav", data: "no!" } };
    const answer = { candidates: [{ content: { parts: [part] }, finishReason: "STOP" }] };
    expect(() => geminiContent.fromJson(answer)).toThrow("is not base64");
  });
});
