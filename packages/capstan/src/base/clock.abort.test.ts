import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isDeadline, rejectOnAbort } from "./clock.ts";
import { AgentError } from "./errors.ts";

const stray: unknown[] = [];
const onUnhandledRejection = (reason: unknown) => void stray.push(reason);

beforeEach(() => {
  stray.length = 0;
  process.on("unhandledRejection", onUnhandledRejection);
});
afterEach(() => {
  process.off("unhandledRejection", onUnhandledRejection);
});

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 1));

describe("rejectOnAbort", () => {
  it("settles with the promise", async () => {
    const { signal } = new AbortController();
    expect(await rejectOnAbort(Promise.resolve(5), signal)).toBe(5);
    await expect(rejectOnAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  });

  it("rejects with the reason at once when aborted, while the work continues (F40)", async () => {
    const controller = new AbortController();
    const waiting = rejectOnAbort(new Promise(() => undefined), controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("does not wait at all when the signal is already aborted", async () => {
    const gone = AbortSignal.abort(new Error("before"));
    await expect(rejectOnAbort(Promise.resolve(5), gone)).rejects.toThrow("before");
  });

  it.each([
    "before",
    "after",
  ])("swallows a later rejection, with an abort %s it begins (F45)", async (when) => {
    const controller = new AbortController();
    if (when === "before") controller.abort(new Error("enough"));
    const work = Promise.withResolvers<void>();
    const waiting = rejectOnAbort(work.promise, controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    work.reject(new Error("late"));
    await nextTask();
    expect(stray).toEqual([]);
  });

  it("leaves no listener on a signal that outlives many calls", async () => {
    const controller = new AbortController();
    const added: string[] = [];
    const { signal } = controller;
    const counting = new Proxy(signal, {
      get(target, key) {
        if (key === "addEventListener" || key === "removeEventListener") {
          return (...args: Parameters<AbortSignal["addEventListener"]>) => {
            added.push(String(key));
            target[key](...args);
          };
        }
        return Reflect.get(target, key, target);
      },
    });
    await rejectOnAbort(Promise.resolve(), counting);
    await rejectOnAbort(Promise.reject(new Error("no")), counting).catch(() => undefined);
    expect(added).toEqual([
      "addEventListener",
      "removeEventListener",
      "addEventListener",
      "removeEventListener",
    ]);
  });
});

it.each([
  [new AgentError("tool_timeout", ""), true],
  [new AgentError("model_timeout", ""), true],
  [new AgentError("cancelled", ""), false],
  [new DOMException("", "TimeoutError"), false],
  [undefined, false],
])("an abort for %s is a deadline: %j", (reason, expected) => {
  expect(isDeadline(AbortSignal.abort(reason))).toBe(expected);
});
