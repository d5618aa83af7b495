import type { EvalCase } from "capstan/evals";
import { expect, it } from "vitest";
import { fromDraft, toDraft } from "./case-draft.ts";

it.each<EvalCase>([
  { id: "a", input: "Hello" },
  { id: "b", input: "Hello", expected: "[1] is a citation", notes: "n" },
  { id: "c", input: "Hello", expected: ["x", "y"], calls: ["find", { name: "pay", input: { to: "ada" } }] },
  {
    id: "d",
    input: [{ role: "user", content: "Hi" }],
    expected: '"quoted"',
    forbidden: ["send_*"],
    calls: [],
  },
  {
    id: "e",
    input: "x",
    expected: '{"a":1}',
    tags: ["t"],
    context: { u: 1 },
    source: { runId: "r", sessionId: "s" },
  },
])("a case survives its form: %j", (one) => {
  expect(fromDraft(toDraft(one), one)).toEqual(one);
});
