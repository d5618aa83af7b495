import { describe, expect, it } from "vitest";
import type { NewRequest } from "../features/exact-requests/stored-request.ts";
import type { DeltaBody, FactBody } from "../kernel/event.ts";
import { createMask, type SecretMask } from "../secrets/mask.ts";
import { withMaskedLog } from "./masked-log.ts";

const secret = "tok-en-12345";

function recorded() {
  const told: (DeltaBody | FactBody)[] = [];
  const append = async (bodies: readonly FactBody[]) => void told.push(...bodies);
  const log = withMaskedLog(
    {
      append,
      appendResult: append,
      emit: (delta) => void told.push(delta),
    },
    createMask([secret]) as SecretMask,
  );
  return { told, log };
}

const words = (delta: string): DeltaBody => ({ type: "content_delta", delta });
const thought = (delta: string): DeltaBody => ({ type: "reasoning_delta", delta });
const said = (id: string, delta: string): DeltaBody => ({ type: "tool_call_delta", id, name: "t", delta });
const usage = { inputTokens: 1, outputTokens: 1 };
const message = (text: string, stopReason: "end" | "aborted" = "end"): FactBody => ({
  ...{ type: "message", entry: { type: "assistant", parts: [{ type: "text", text }] } },
  ...{ model: "m", usage, ms: 1, stopReason },
});
const warning: FactBody = { type: "warning", code: "hook_failed", message: "It threw." };

describe("a log with secrets", () => {
  it("masks text, reasoning and each call separately, and holds back only possible secrets (A111)", () => {
    const { told, log } = recorded();
    const deltas = [words("a tok-"), thought("tok-en"), said("1", "tok-en-1"), said("2", ""), said("2", "x")];
    for (const delta of deltas) log.emit(delta);
    for (const delta of [said("1", "2345!"), thought("-12345."), words("day")]) log.emit(delta);
    expect(told).toEqual([
      ...[words("a "), said("2", ""), said("2", "x")],
      ...[said("1", "***!"), thought("***."), words("tok-day")],
    ]);
  });

  it("masks the body of a request, whose parts it does not pass on (A111)", () => {
    const added: NewRequest[] = [];
    const ignore = async () => undefined;
    const log = withMaskedLog(
      {
        append: ignore,
        appendResult: ignore,
        emit: ignore,
        addRequest: (request) => void added.push(request),
      },
      createMask([secret]) as SecretMask,
    );
    const history = { text: `"${secret}"`, entries: [`"${secret}"`], count: 1 };
    log.addRequest?.({
      ...{ purpose: "answer", model: "m", url: "", method: "", headers: {} },
      ...{ body: `["${secret}"]`, parts: { head: "[", history, tail: "]" } },
    });
    expect(added).toEqual([
      { purpose: "answer", model: "m", url: "", method: "", headers: {}, body: '["***"]' },
    ]);
  });

  it("emits held-back text before the message fact (A111)", async () => {
    const { told, log } = recorded();
    log.emit(words("a tok"));
    await log.append([message("a tok"), warning], "1");
    expect(told).toEqual([words("a "), words("tok"), message("a tok"), warning]);
  });

  it("handles a warning within a message (A111)", async () => {
    const { told, log } = recorded();
    log.emit(words("tok-en"));
    await log.append([warning], "hook");
    log.emit(words("-12345"));
    expect(told).toEqual([warning, words("***")]);
  });

  it("drops held-back text when the message restarts (A111)", async () => {
    const { told, log } = recorded();
    const restart: DeltaBody = { type: "message_restart", reason: secret };
    for (const delta of [words("tok-en"), restart, words("-12345")]) log.emit(delta);
    expect(told).toEqual([{ ...restart, reason: "***" }, words("-12345")]);
  });

  it("does not emit half of a secret in a truncated message (A111)", async () => {
    const { told, log } = recorded();
    log.emit(words("It is tok-en-1"));
    await log.append([message("It is tok-en-1", "aborted")], "1");
    expect(told).toEqual([words("It is "), words("***"), message("It is ***", "aborted")]);
  });

  it("masks progress and the names of retries (A110)", () => {
    const { told, log } = recorded();
    log.emit({ type: "tool_progress", id: "1", data: { [secret]: [secret] } });
    log.emit({ type: "retry", attempt: 1, code: secret, message: `No ${secret}.`, waitMs: 0, at: 1 });
    expect(told).toEqual([
      { type: "tool_progress", id: "1", data: { "***": ["***"] } },
      { type: "retry", attempt: 1, code: "***", message: "No ***.", waitMs: 0, at: 1 },
    ]);
  });
});
