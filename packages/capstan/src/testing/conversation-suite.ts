// Conversations with an app and the expected reaction to each message. With the offline model they need no key; with a
// real model they are an evaluation.

import { describe, expect, it } from "vitest";
import type { Agent } from "../kernel/agent.ts";
import type { Result } from "../runtime/result.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";

/** One user message and the expected reaction. */
export type ScriptedExchange = {
  readonly user: string;
  /** The expected calls in order: the tool and the relevant part of its input. Not checked if omitted. */
  readonly calls?: readonly (readonly [tool: string, input?: object])[];
  /** Text that the answer must contain, ignoring case. */
  readonly answers?: readonly (string | RegExp)[];
  /** Text that the answer must not contain. */
  readonly never?: readonly (string | RegExp)[];
  /** Default: `done`. */
  readonly status?: Result["status"];
};

/** A conversation: later messages may refer to earlier ones. */
export type Conversation = readonly ScriptedExchange[];

/**
 * Runs every conversation with the agent that `make` returns, each in its own session. Approves every call that needs
 * it.
 */
export function conversationSuite(
  name: string,
  make: () => Agent | Promise<Agent>,
  conversations: readonly Conversation[],
): void {
  describe(`${name}, in conversations with the offline model`, () => {
    it("has at least 40 exchanges", () => {
      expect(conversations.flat().length).toBeGreaterThanOrEqual(40);
    });

    it.each(
      conversations.map(
        (conversation) => [conversation.map(({ user: says }) => says).join(" / "), conversation] as const,
      ),
    )("%s", async (_, conversation) => {
      const options = { store: memory(), session: "ses_conversation" };
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
  for (const part of answers) expect(includesText(result.text, part), `${where}\nlacks ${part}`).toBe(true);
  for (const part of never) expect(includesText(result.text, part), `${where}\ncontains ${part}`).toBe(false);
}

const includesText = (text: string, part: string | RegExp): boolean =>
  typeof part === "string" ? text.toLowerCase().includes(part.toLowerCase()) : part.test(text);
