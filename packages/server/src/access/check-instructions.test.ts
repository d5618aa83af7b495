import { type Agent, defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { createTestServer } from "../testing/test-server.ts";
import { checkInstructions } from "./check-instructions.ts";

function createAgent(
  instructions: string,
  more: { handoffs?: () => readonly Agent[]; name?: string } = {},
): Agent {
  return defineAgent({ name: "helper", model: scriptedModel([]), instructions, ...more });
}

it.each([
  "Use sk-proj-abcdefghijklmnopqrstuv for the search.",
  "Key: AKIAIOSFODNN7EXAMPLE.",
  "ghp_0123456789abcdef0123456789abcdef0123",
  "xoxb-123456789012-abcdefghij",
  "The password is hunter2hunter2.",
  'api_key = "0123456789abcdef"',
  "-----BEGIN RSA PRIVATE KEY-----",
  "Ask postgres://admin:pa55word@db.internal/x",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
])("something like a key in instructions is warned of: %s (A114)", (instructions) => {
  const [warning, ...others] = checkInstructions([createAgent(instructions)]);
  expect(others).toEqual([]);
  expect(warning?.message).toContain('"helper"');
  for (const word of instructions.split(/\s/).filter((one) => /\d/.test(one)))
    expect(warning?.message).not.toContain(word);
});

it.each([
  "",
  "You are a helpful assistant. Never ask for a password or an API key.",
  "If the secret is unknown, say so. Reset the password: send them to the portal.",
  "Sessions look like ses_01234567-89ab-cdef-0123-456789abcdef.",
  "Write to support@example.com or see https://example.com/a:b.",
])("a plain text is not: %s (A114)", (instructions) => {
  expect(checkInstructions([createAgent(instructions)])).toEqual([]);
});

it("the log of a server has the warning when it starts, also for agents that are handed over to (A114)", async () => {
  const log: unknown[] = [];
  const second: Agent = createAgent("Use AKIAIOSFODNN7EXAMPLE.", { name: "second", handoffs: () => [first] });
  const first: Agent = createAgent("Help.", { handoffs: () => [second] });
  const server = createTestServer({ agents: [first], onError: (error) => log.push(error) });
  expect(log).toMatchObject([{ code: "security", message: expect.stringContaining('"second"') }]);
  await server.close(0);
});
