import { describe, expect, it } from "vitest";
import type { Effect, Step } from "../kernel/effect.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { withConcurrencyLimit } from "./steps.ts";

const call = (callId: string): Effect => ({
  type: "tool",
  id: `call.${callId}`,
  agent: "helper",
  callId,
  name: "look",
  input: {},
  attempt: 1,
  timeoutMs: 1000,
  deadlineMs: 1e9,
  retry: defaultPolicy.retry,
});
const { signal } = new AbortController();
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A step whose effects end only when released by id; records the order in which they started. */
function createHeldStep() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<readonly never[]>>();
  const step: Step = (effect) => {
    const end = Promise.withResolvers<readonly never[]>();
    begun.push(effect.id);
    ends.set(effect.id, end);
    return end.promise;
  };
  return { begun, step, end: (id: string) => ends.get(id) };
}

describe("withConcurrencyLimit", () => {
  it("runs a limited number of calls at once and starts the others in call order as slots become free (F40)", async () => {
    const { begun, step, end } = createHeldStep();
    const one = withConcurrencyLimit(step, 2);
    const all = ["a", "b", "c", "d"].map((id) => one(call(id), signal));
    await settle();
    expect(begun).toEqual(["call.a", "call.b"]);
    end("call.b")?.resolve([]);
    await settle();
    expect(begun).toEqual(["call.a", "call.b", "call.c"]);
    end("call.a")?.resolve([]);
    end("call.c")?.resolve([]);
    await settle();
    end("call.d")?.resolve([]);
    await Promise.all(all);
    expect(begun).toEqual(["call.a", "call.b", "call.c", "call.d"]);
  });

  it("frees a slot when a step rejects", async () => {
    const { begun, step, end } = createHeldStep();
    const one = withConcurrencyLimit(step, 1);
    const first = one(call("a"), signal);
    const second = one(call("b"), signal);
    await settle();
    end("call.a")?.reject(new Error("journal"));
    await expect(first).rejects.toThrow("journal");
    await settle();
    expect(begun).toEqual(["call.a", "call.b"]);
    end("call.b")?.resolve([]);
    await second;
  });

  it("never counts a slot twice: the limit is unchanged after all slots were used", async () => {
    const { begun, step, end } = createHeldStep();
    const one = withConcurrencyLimit(step, 2);
    for (const round of ["1", "2", "3"]) {
      const ids = ["a", "b", "c"].map((name) => `${name}${round}`);
      const all = ids.map((id) => one(call(id), signal));
      await settle();
      expect(begun.filter((id) => id.endsWith(round))).toHaveLength(2);
      for (const id of ids) {
        end(`call.${id}`)?.resolve([]);
        await settle();
      }
      await Promise.all(all);
    }
  });

  it("does not delay notes and model calls", async () => {
    const { begun, step } = createHeldStep();
    const one = withConcurrencyLimit(step, 1);
    void one(call("a"), signal);
    void one({ type: "note", id: "n", facts: [] }, signal);
    await settle();
    expect(begun).toEqual(["call.a", "n"]);
  });
});
