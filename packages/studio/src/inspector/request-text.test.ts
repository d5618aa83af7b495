import { execFileSync } from "node:child_process";
import type { ExactRequest } from "capstan/client";
import fc from "fast-check";
import { expect, it } from "vitest";
import { countUtf8Bytes, formatBody, formatCurl, splitAdded } from "./request-text.ts";

const request = {
  ...{
    number: 1,
    runId: "r",
    turn: 1,
    agent: "a",
    purpose: "answer" as const,
    at: 0,
    model: "m",
    method: "POST",
  },
  ...{
    url: "https://acme.test/v1?alt=sse",
    headers: { accept: "*/*", authorization: "***", "x-key": "***" },
  },
} satisfies Omit<ExactRequest, "body">;

it("what was added to a request is found, and the three parts are the request", () => {
  const previous = '{"messages":[1,2],"tools":[]}';
  expect(splitAdded(previous, '{"messages":[1,2,3],"tools":[]}')).toEqual({
    ...{ head: '{"messages":[1,2', added: ",3", tail: '],"tools":[]}' },
  });
  fc.assert(
    fc.property(fc.option(fc.string(), { nil: undefined }), fc.string(), (before, body) => {
      const { head, added, tail } = splitAdded(before, body);
      expect(head + added + tail).toBe(body);
    }),
  );
});

it("a copied command sends exactly the body, and has no key", () => {
  const body = `{"text":"it's \\"quoted\\" $HOME \`id\` é😀"}`;
  const command = formatCurl({ ...request, body });
  expect(command).toContain('-H "authorization: Bearer $KEY"');
  expect(command).toContain('-H "x-key: $KEY"');
  const printed = execFileSync("sh", [
    "-c",
    `curl() { for last; do :; done; printf %s "$last"; }\n${command}`,
  ]);
  expect(printed.toString()).toBe(body);
});

it("a body is indented if it is JSON, and measured in bytes", () => {
  expect(formatBody('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(formatBody("not JSON")).toBe("not JSON");
  expect(countUtf8Bytes("é😀")).toBe(6);
});
