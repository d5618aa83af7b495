import fc from "fast-check";
import { expect, it } from "vitest";
import type { Entry } from "../../kernel/history.ts";
import { buildAnthropicRequest } from "./request.ts";

type Block = { readonly cache_control?: unknown };
type Body = {
  readonly system: readonly Block[];
  readonly tools: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
};

function build(history: readonly Entry[]): Body {
  const tools = ["a", "b"].map((name) => ({ name, description: name, input: { type: "object" } }));
  const request = { instructions: "Be brief.", history, tools, toolChoice: "auto", thinking: false } as const;
  return JSON.parse(buildAnthropicRequest(request, { model: "claude-haiku-4-5", stream: true }));
}

/** The blocks up to each marked one, as the provider hashes them. */
function listMarkedPrefixes({ tools, system, messages }: Body): readonly string[] {
  const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)];
  const texts = blocks.map(({ cache_control: _mark, ...block }) => JSON.stringify(block));
  return blocks.flatMap(({ cache_control }, index) =>
    cache_control ? [texts.slice(0, index + 1).join()] : [],
  );
}

/** A turn: text, or parallel calls with their results. */
function createTurn(count: number, turn: number): readonly Entry[] {
  const ids = Array.from({ length: count }, (_, index) => `call_${turn}_${index}`);
  if (count === 0)
    return [
      { type: "assistant", parts: [{ type: "text", text: `Answer ${turn}` }] },
      { type: "user", content: `Question ${turn}` },
    ];
  return [
    { type: "assistant", parts: ids.map((id) => ({ type: "call", id, name: "a", input: {} })) },
    ...ids.map((callId): Entry => ({ type: "result", callId, name: "a", content: callId, status: "ok" })),
  ];
}

it("every request has at most four marks, one of them exactly where the request before it ended, also after 40 parallel results", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 1, 3, 40), { maxLength: 6 }), (turns) => {
      let history: readonly Entry[] = [{ type: "user", content: "Hi" }];
      let before = listMarkedPrefixes(build(history));
      for (const [index, count] of turns.entries()) {
        history = [...history, ...createTurn(count, index)];
        const marked = listMarkedPrefixes(build(history));
        // The API looks back only 20 blocks from a mark, so the end of the last request has to be marked again.
        expect(marked).toContain(before.at(-1));
        expect(marked.length).toBeLessThanOrEqual(4);
        before = marked;
      }
    }),
    { numRuns: 50 },
  );
});
