// Conversations with an app as people would have them, and what must come of each sentence: written first, from the
// app's point of view. With the offline model they need no key; with a real one they are an evaluation of it.

import { describe, expect, it } from "vitest";
import type { Agent } from "../agent.ts";
import type { Result } from "../run/result.ts";
import { run } from "../run/run.ts";
import { memory } from "../stores/memory.ts";

/** One sentence of a person. */
export type ScriptedExchange = {
  readonly user: string;
  /** The calls that are made for it, in order: the tool, and what of its input matters. Left out: not looked at. */
  readonly calls?: readonly (readonly [tool: string, input?: object])[];
  /** What the answer has, in any case of letters. */
  readonly answers?: readonly (string | RegExp)[];
  /** What it must not have. */
  readonly never?: readonly (string | RegExp)[];
  /** By default `done`. */
  readonly status?: Result["status"];
};

/** A conversation: later sentences go on from earlier ones. */
export type Conversation = readonly ScriptedExchange[];

/** Has every talk with the agent that `make` makes, each in a session of its own; whatever needs approval is approved. */
export function conversationSuite(
  name: string,
  make: () => Agent | Promise<Agent>,
  conversations: readonly Conversation[],
): void {
  describe(`${name}, asked in words, with the offline model`, () => {
    it("has at least 40 sentences to understand", () => {
      expect(conversations.flat().length).toBeGreaterThanOrEqual(40);
    });

    it.each(
      conversations.map(
        (conversation) => [conversation.map(({ user: says }) => says).join(" / "), conversation] as const,
      ),
    )("%s", async (_, conversation) => {
      const options = { store: memory(), session: "ses_talk" };
      const agent = await make();
      for (const exchange of conversation) {
        const running = run(agent, exchange.user, options);
        let result = await running;
        while (result.status === "waiting") {
          for (const { callId } of result.pending) running.approve(callId);
          result = await running;
        }
        checkExchange(exchange, result);
      }
    });
  });
}

function checkExchange(exchange: ScriptedExchange, result: Result): void {
  const { user: says, calls, answers = [], never = [], status = "done" } = exchange;
  const made = result.toolCalls.map(({ name, input }) => [name, input]);
  const where = `${says}\n→ ${JSON.stringify(made)}\n→ ${result.text}`;
  expect(result.status, where).toBe(status);
  if (calls) {
    expect(
      made.map(([tool]) => tool),
      where,
    ).toEqual(calls.map(([tool]) => tool));
    for (const [at, [, input = {}]] of calls.entries()) expect(made[at]?.[1], where).toMatchObject(input);
  }
  for (const part of answers) expect(includesText(result.text, part), `${where}\nhas not ${part}`).toBe(true);
  for (const part of never) expect(includesText(result.text, part), `${where}\nhas ${part}`).toBe(false);
}

const includesText = (text: string, part: string | RegExp): boolean =>
  typeof part === "string" ? text.toLowerCase().includes(part.toLowerCase()) : part.test(text);
