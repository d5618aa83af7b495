import { describe, expect, it } from "vitest";
import type { RunState } from "../state/state.ts";
import { inbox, steering } from "./inbox.ts";

const running = { id: "r" } as RunState;
const ended = { id: "r", done: { status: "done", text: "", grounded: true } } as RunState;

describe("what lies in the store for a run", () => {
  it("is heard once, also when it is brought twice (F84)", async () => {
    const box = inbox();
    box.put({ ...steering("Hurry."), key: "k" });
    box.put({ ...steering("Hurry."), key: "k" });
    const { facts, keys } = await box.take(running);
    expect(facts).toEqual([{ type: "steered", entry: { type: "user", content: "Hurry." } }]);
    expect(keys).toEqual(["k"]);
  });

  it("is not heard after the end, for nothing is said then", async () => {
    const box = inbox();
    box.put({ ...steering("Hurry."), key: "k" });
    expect(await box.take(ended)).toEqual({ facts: [], problems: [], keys: [] });
  });
});
