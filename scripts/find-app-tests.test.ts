import { expect, it } from "vitest";
import { findAppTests } from "./find-app-tests.ts";

const source = (...lines: readonly string[]): string => lines.join("\n");
const listAppTests = (...lines: readonly string[]): string[] => [...findAppTests(source(...lines))];

it("counts a test that starts an agent or a server, and none that only reads a value", () => {
  const [runs, reads] = [
    'it("runs", () => run(agent, "Hi"));',
    'it("reads", () => expect(policy).toEqual({}));',
  ];
  expect(listAppTests(runs, reads)).toEqual(["runs"]);
  expect(listAppTests(reads)).toEqual([]);
});

it("follows functions and hooks that tests share", () => {
  const helpers = [
    "async function ask(text) {",
    "  return run(agent, text);",
    "}",
    "const askTwice = (text) => ask(text);",
  ];
  const tests = [
    'describe("all", () => {',
    '  it("asks", () => askTwice("Hi"));',
    '  it("adds", () => 1 + 1);',
    "});",
  ];
  expect(listAppTests(...helpers, ...tests)).toEqual(["asks", "all"]);
  expect(listAppTests("beforeAll(() => createServer({ agents }));", ...tests)).toEqual([
    "asks",
    "adds",
    "all",
  ]);
});

it("takes a function inside a test for a part of it", () => {
  const test = [
    'it("sends", async () => {',
    "  const send = async (body) => body;",
    "  await run(agent, send);",
    "});",
  ];
  expect(listAppTests(...test)).toEqual(["sends"]);
});
