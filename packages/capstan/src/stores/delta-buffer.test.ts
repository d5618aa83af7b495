import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Delta, DeltaBody } from "../kernel/event.ts";
import type { PositionedDelta } from "../runtime/store.ts";
import { createDeltaBuffer } from "./delta-buffer.ts";

type Origin = Partial<Pick<Delta, "runId" | "agent" | "turn" | "parentRunId" | "parentCallId">>;
const piece = (body: DeltaBody, after = 1, origin: Origin = {}): PositionedDelta => ({
  after,
  delta: { ...body, runId: "r", sessionId: "s", agent: "a", turn: 1, ...origin },
});
const text = (delta: string, after = 1, origin: Origin = {}) =>
  piece({ type: "content_delta", delta }, after, origin);
const thought = (delta: string) => piece({ type: "reasoning_delta", delta });
const call = (id: string, delta: string, name = "t") => piece({ type: "tool_call_delta", id, name, delta });
const progress = (id: string, data: number) => piece({ type: "tool_progress", id, data });
const restart = (origin: Origin = {}) =>
  piece({ type: "message_restart", reason: "stream_truncated" }, 1, origin);
const inner: Origin = { runId: "r~c", parentRunId: "r", parentCallId: "c" };

/** All that a watcher would be told after these pieces. */
function told(...pieces: PositionedDelta[]): readonly PositionedDelta[] {
  const { add, list } = createDeltaBuffer();
  for (const each of pieces) add("s", [each]);
  return list("s");
}

describe("the delta buffer", () => {
  it("joins adjacent deltas of one text and keeps the order of texts", () => {
    expect(told(thought("a"), thought("b"), text("c"), text(""), text("d"), thought("e"))).toEqual([
      ...[thought("ab"), text("cd"), thought("e")],
    ]);
    const other = { turn: 2 };
    expect(told(text("a"), text("b", 1, other), text("c", 1, { ...other, agent: "b" }))).toHaveLength(3);
    expect(told(call("1", "", ""), call("1", "{"), call("2", "["), call("1", "}"))).toEqual([
      ...[call("1", "{"), call("2", "["), call("1", "}")],
    ]);
  });

  it("returns the same when it is listed in between", () => {
    const { add, list } = createDeltaBuffer();
    const asked = ["a", "b", "c"].map((delta) => {
      add("s", [text(delta), text(delta)]);
      return list("s");
    });
    expect(asked).toEqual([[text("aa")], [text("aabb")], [text("aabbcc")]]);
    expect(list("other")).toEqual([]);
  });

  it("holds the deltas after the latest fact", () => {
    expect(told(text("old", 1), text("new", 2), text("late", 1), text("er", 2))).toEqual([text("newer", 2)]);
    const { add, clear, list } = createDeltaBuffer();
    add("s", [text("a")]);
    clear("s");
    expect(list("s")).toEqual([]);
    add("s", [text("b", 2)]);
    expect(list("s")).toEqual([text("b", 2)]);
  });

  it("holds the latest progress of a call", () => {
    expect(told(progress("1", 1), progress("2", 1), progress("1", 2))).toEqual([
      progress("2", 1),
      progress("1", 2),
    ]);
  });

  it("drops a restarted message, and keeps other runs", () => {
    const cited = piece({ type: "citation", n: 1, id: "f", source: { title: "t" } });
    const kept = [text("inner", 1, inner), progress("1", 1)];
    expect(told(text("a"), ...kept, thought("b"), call("1", "{"), cited, restart(), text("c"))).toEqual([
      ...[...kept, restart(), text("c")],
    ]);
    expect(told(text("a"), restart(), text("b"), restart())).toEqual([restart()]);
    expect(told(text("a"), restart(inner))).toEqual([text("a"), restart(inner)]);
  });

  it("never holds a text without its start: a spurious facts notice truncates it until it restarts", () => {
    const { add, clear, list } = createDeltaBuffer();
    add("s", [text("a"), progress("1", 1)]);
    clear("s");
    add("s", [text("b"), thought("c"), progress("1", 2)]);
    expect(list("s")).toEqual([thought("c"), progress("1", 2)]);
    add("s", [restart(), text("d")]);
    expect(list("s")).toEqual([progress("1", 2), restart(), text("d")]);
  });

  it("drops the rest of a nested message that continues across facts of another run", () => {
    const { add, clear, list } = createDeltaBuffer();
    add("s", [text("a", 1, inner)]);
    clear("s");
    add("s", [text("b", 2, inner), text("c", 2, { ...inner, turn: 2 })]);
    clear("s");
    add("s", [text("d", 3, inner), text("e", 3)]);
    expect(list("s")).toEqual([text("e", 3)]);
  });

  it("drops the oldest text completely above a million characters", () => {
    const { add, list } = createDeltaBuffer();
    add("s", [thought("x".repeat(600_000)), text("y".repeat(300_000))]);
    expect(list("s").map(({ delta }) => delta.type)).toEqual(["reasoning_delta", "content_delta"]);
    add("s", [text("y".repeat(200_000))]);
    expect(list("s").map(({ delta }) => delta.type)).toEqual(["content_delta"]);
    for (let count = 0; count < 20; count++) add("s", [text("y".repeat(50_000)), progress("1", count)]);
    expect(list("s")).toEqual([progress("1", 19)]);
    add("s", [text("z"), text("begins", 2)]);
    expect(list("s")).toEqual([text("begins", 2)]);
  });

  it("is kept for the ten thousand most recent sessions", () => {
    const { add, list } = createDeltaBuffer();
    for (let session = 0; session < 10_001; session++) {
      add(`s${session}`, [text("a")]);
      add("s1", [text("b", session + 2)]);
    }
    expect(["s0", "s1", "s2", "s9999", "s10000"].map((id) => list(id).length)).toEqual([0, 1, 1, 1, 1]);
  });

  it("is deleted with its session", () => {
    const { add, delete: deleteSession, list } = createDeltaBuffer();
    add("s", [text("a", 9)]);
    deleteSession("s");
    expect(list("s")).toEqual([]);
    add("s", [text("b", 1)]);
    expect(list("s")).toEqual([text("b")]);
  });

  it("keeps deltas of another process after its facts, and not across a gap", () => {
    const { add, addRemote, expectRemote, deleteRemote, list } = createDeltaBuffer();
    addRemote("s", [text("unheard")]);
    expect(list("s")).toEqual([]);
    expectRemote("s");
    addRemote("s", [text("a", 2)]);
    addRemote("s", [text("b", 2)]);
    expect(list("s")).toEqual([text("ab", 2)]);
    add("own", [text("own")]);
    deleteRemote("s");
    addRemote("s", [text("c", 2)]);
    addRemote("own", [text("other", 2)]);
    expect([list("s"), list("own")]).toEqual([[], [text("own")]]);
    expectRemote("own");
    addRemote("own", [text("taken over", 3)]);
    expect(list("own")).toEqual([text("taken over", 3)]);
  });

  it("holds the complete text of each stream for any sequence of deltas, restarts and facts", () => {
    const said = fc.record({
      type: fc.constantFrom("content_delta" as const, "reasoning_delta" as const),
      run: fc.constantFrom("r", "r~c"),
      delta: fc.string({ maxLength: 3 }),
    });
    const step = fc.oneof(
      { weight: 10, arbitrary: said },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant("restart" as const), run: fc.constantFrom("r", "r~c") }),
      },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("fact" as const) }) },
    );
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { add, clear, list } = createDeltaBuffer();
      const whole = new Map<string, string>();
      let position = 1;
      for (const each of steps) {
        if (each.type === "fact") {
          clear("s");
          whole.clear();
          position += 1;
        } else if (each.type === "restart") {
          add("s", [piece({ type: "message_restart", reason: "" }, position, { runId: each.run })]);
          for (const key of [...whole.keys()]) if (key.endsWith(` ${each.run}`)) whole.delete(key);
        } else {
          const key = `${each.type} ${each.run}`;
          whole.set(key, (whole.get(key) ?? "") + each.delta);
          add("s", [piece({ type: each.type, delta: each.delta }, position, { runId: each.run })]);
        }
      }
      const texts = new Map<string, string>();
      for (const { delta } of list("s"))
        if ("delta" in delta) {
          const key = `${delta.type} ${delta.runId}`;
          texts.set(key, (texts.get(key) ?? "") + delta.delta);
        }
      expect(texts).toEqual(whole);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
