import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Model } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";

type Body = { readonly [field: string]: unknown };
type Provider = {
  /** Two answers as streams: a thought and a call, then a text. */
  readonly answers: readonly (readonly object[])[];
  create(fetch: typeof globalThis.fetch): Model;
  /** The fields of a body that ask for thinking. */
  readonly asked: Body;
  /** The part of the history that carries the signature. */
  readonly sentBack: Body;
  getHistory(body: Body): unknown;
};

const shared = { apiKey: "key-1234567890", circuit: false } as const;

const block = (index: number, start: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const usage = { input_tokens: 5, output_tokens: 5 };
const toMessage = (stopReason: string, ...events: object[]) => [
  { type: "message_start", message: { content: [], usage } },
  ...events,
  { type: "message_delta", delta: { stop_reason: stopReason }, usage },
  { type: "message_stop" },
];

const providers: { readonly [name: string]: Provider } = {
  anthropic: {
    answers: [
      toMessage(
        "tool_use",
        ...block(
          0,
          { type: "thinking", thinking: "" },
          { type: "thinking_delta", thinking: "I should look." },
          { type: "signature_delta", signature: "c2lnbmVk" },
        ),
        ...block(1, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
      ),
      toMessage("end_turn", ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Done." })),
    ],
    create: (fetch) => anthropic({ ...shared, model: "claude-opus-5-5", fetch }),
    asked: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "high" } },
    sentBack: { type: "thinking", thinking: "I should look.", signature: "c2lnbmVk" },
    getHistory: ({ messages }) => (messages as { content: unknown }[])[1]?.content,
  },
  gemini: {
    answers: [
      [
        { candidates: [{ content: { parts: [{ text: "I should look.", thought: true }] } }] },
        {
          candidates: [
            {
              content: {
                parts: [{ functionCall: { name: "look", args: {} }, thoughtSignature: "c2lnbmVk" }],
              },
              finishReason: "STOP",
            },
          ],
        },
      ],
      [{ candidates: [{ content: { parts: [{ text: "Done." }] }, finishReason: "STOP" }] }],
    ],
    create: (fetch) => gemini({ ...shared, model: "gemini-3.8-flash", fetch }),
    asked: { generationConfig: { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true } } },
    sentBack: { functionCall: { name: "look", args: {} }, thoughtSignature: "c2lnbmVk" },
    getHistory: ({ contents }) => (contents as { parts: unknown }[])[1]?.parts,
  },
};

describe("the effort of a run", () => {
  it.each(
    Object.entries(providers),
  )("turns thinking on, streams its summary, and sends its signature back: %s (C-21)", async (_name, provider) => {
    const bodies: Body[] = [];
    const model = provider.create(async (_url, init) => {
      const answer = provider.answers[bodies.push(JSON.parse(String(init?.body))) - 1] ?? [];
      const events = answer.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(events, { headers: { "content-type": "text/event-stream" } });
    });
    const look = defineTool({
      ...{ name: "look", description: "Looks", effects: "none", execute: () => "seen" },
      input: { type: "object", properties: {} },
    });
    const agent = defineAgent({ name: "a", model, tools: [look] });
    let thoughts = "";
    const started = run(agent, "Look around", { settings: { effort: "high" } });
    for await (const event of started) if (event.type === "reasoning_delta") thoughts += event.delta;
    expect((await started).text).toBe("Done.");
    expect(thoughts).toBe("I should look.");
    expect(bodies).toMatchObject([provider.asked, provider.asked]);
    expect(provider.getHistory(bodies[1] ?? {})).toContainEqual(expect.objectContaining(provider.sentBack));
  });
});
