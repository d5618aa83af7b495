import type { PendingCall } from "capstan";
import { describe, expect, it } from "vitest";
import { parseAnswers } from "./answers.ts";

const about = { input: {}, shown: "{}", reason: "It costs money." };
const pay: PendingCall = { ...about, callId: "c1", name: "pay", needs: "approval", digest: "d1" };
const screen: PendingCall = { ...about, callId: "c2", name: "screen", needs: "answer" };
const createQuestion = (schema?: object): PendingCall => ({
  ...pay,
  question: { message: "Which?", ...(schema && { schema: schema as never }) },
});

const answerText = (text: string, ...pending: PendingCall[]) => parseAnswers({ parts: [{ text }] }, pending);
const answerData = (data: unknown, ...pending: PendingCall[]) => parseAnswers({ parts: [{ data }] }, pending);

describe("a text answer", () => {
  it.each(["yes", " Yes. ", "approved", "Y"])("%j approves the one call that waits", (text) => {
    expect(answerText(text, pay)).toEqual([{ type: "approve", callId: "c1" }]);
  });
  it("refuses it, with the reason if given", () => {
    expect(answerText("No, too much.", pay)).toEqual([{ type: "deny", callId: "c1", reason: "too much." }]);
    expect(answerText("no", pay)).toEqual([{ type: "deny", callId: "c1" }]);
  });
  it.each(["yes please pay twice", "yesterday", "nothing", "sure", "yes\nno", ""])("%j is none", (text) => {
    expect(() => answerText(text, pay)).toThrow();
  });
  it("is none when several calls wait", () => {
    expect(() => answerText("yes", pay, screen)).toThrow("Several calls");
  });
  it("is the value of a question that expects text, or the result of a client-side call", () => {
    expect(answerText("The blue one", createQuestion())).toEqual([
      { type: "approve", callId: "c1", value: "The blue one" },
    ]);
    expect(answerText("yes", createQuestion({ type: "string" }))).toEqual([
      { type: "approve", callId: "c1", value: "yes" },
    ]);
    expect(answerText("no", createQuestion({ type: "boolean" }))).toEqual([
      { type: "approve", callId: "c1", value: false },
    ]);
    expect(() => answerText("blue", createQuestion({ type: "object" }))).toThrow("data part");
    expect(answerText("moved", screen)).toEqual([{ type: "result", callId: "c2", value: "moved" }]);
  });
  it("with a digest is refused for anything else (A109)", () => {
    const yes = (digest: string) => parseAnswers({ parts: [{ text: "yes" }], digest }, [pay]);
    expect(yes("d1")).toEqual([{ type: "approve", callId: "c1" }]);
    expect(() => yes("d0")).toThrow(expect.objectContaining({ code: "approval_mismatch" }));
  });
});

describe("an answer in data", () => {
  it("approves only the call that was shown (A109)", () => {
    expect(answerData({ approved: true, digest: "d1", value: 3 }, pay)).toEqual([
      { type: "approve", callId: "c1", value: 3 },
    ]);
    expect(() => answerData({ approved: true }, pay)).toThrow("digest");
    expect(() => answerData({ approved: true, digest: "d0" }, pay)).toThrow(
      expect.objectContaining({ code: "approval_mismatch" }),
    );
    expect(answerData({ approved: false, reason: "No." }, pay)).toEqual([
      { type: "deny", callId: "c1", reason: "No." },
    ]);
  });
  it("names the call when several wait, and answers each once", () => {
    const both = [{ data: { callId: "c1", approved: false } }, { data: { callId: "c2", result: [1] } }];
    expect(parseAnswers({ parts: both }, [pay, screen])).toEqual([
      { type: "deny", callId: "c1" },
      { type: "result", callId: "c2", value: [1] },
    ]);
    expect(() => answerData({ approved: false }, pay, screen)).toThrow("Several");
    expect(() => answerData({ callId: "c9", approved: false }, pay)).toThrow("c9");
    const twice = [{ data: { callId: "c1", approved: false } }, { data: { callId: "c1", approved: false } }];
    expect(() => parseAnswers({ parts: twice }, [pay, screen])).toThrow("once");
  });
  it("is of the kind that the call waits for", () => {
    expect(() => answerData({ result: 1 }, pay)).toThrow("decision");
    expect(() => answerData({ approved: false }, screen)).toThrow("result");
    expect(() => answerData({ yes: true }, pay)).toThrow("An answer must be");
  });
});
