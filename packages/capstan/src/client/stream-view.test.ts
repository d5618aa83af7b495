import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { type Event, isFact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { type StreamMode, streamView } from "./stream-view.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});
const noting: ScriptedStep[] = [
  { text: "Let me look.", calls: [{ name: "look" }], split: 4 },
  { text: "I have seen it.", split: 4 },
];

async function collectFiltered(mode: StreamMode, steps: readonly ScriptedStep[] = noting): Promise<Event[]> {
  const agent = defineAgent({ name: "a", model: scriptedModel(steps), tools: [look] });
  const options = { store: memory(), runId: "r", clock: fakeClock({ skipUpToMs: 30_000 }) };
  const events: Event[] = [];
  for await (const event of streamView(run(agent, "Go", { ...options, session: crypto.randomUUID() }), mode))
    events.push(event);
  return events;
}

const getTexts = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === "content_delta" ? [`${event.turn}: ${event.delta}`] : []));

describe("streamView", () => {
  it("`all` passes every text delta of every turn (C-17, S2-50)", async () => {
    const events = await collectFiltered("all");
    expect(getTexts(events)).toEqual([
      ...["1: Let ", "1: me l", "1: ook."],
      ...["2: I ha", "2: ve s", "2: een ", "2: it."],
    ]);
    const second = events.findIndex((event) => event.type === "turn_start" && event.turn === 2);
    expect(getTexts(events.slice(0, second))).toHaveLength(3);
  });

  it("`per-turn` passes the text of a turn as a whole, when it is complete (C-17, S2-50)", async () => {
    const events = await collectFiltered("per-turn");
    expect(getTexts(events)).toEqual(["1: Let me look.", "2: I have seen it."]);
    const first = events.findIndex((event) => event.type === "content_delta");
    expect(events[first + 1]?.type).toBe("message");
  });

  it("`final` passes only the answer (C-17, S2-50)", async () => {
    expect(getTexts(await collectFiltered("final"))).toEqual(["2: I have seen it."]);
  });

  it("facts are the same in every view (C-17)", async () => {
    const facts = await Promise.all(
      (["all", "per-turn", "final"] as const).map(async (mode) =>
        (await collectFiltered(mode)).filter(isFact).map((fact) => [fact.type, fact.seq]),
      ),
    );
    expect(facts[1]).toEqual(facts[0]);
    expect(facts[2]).toEqual(facts[0]);
    expect(facts[0]?.at(-1)?.[0]).toBe("done");
  });

  it("text that is repeated after a failure appears once", async () => {
    const failing: ScriptedStep[] = [{ text: "Hel", error: "model_failed" }, { text: "Hello." }];
    expect(getTexts(await collectFiltered("final", failing))).toEqual(["1: Hello."]);
    expect(getTexts(await collectFiltered("per-turn", failing))).toEqual(["1: Hello."]);
    const all = await collectFiltered("all", failing);
    const restart = all.findIndex((event) => event.type === "message_restart");
    expect(getTexts(all.slice(restart))).toEqual(["1: Hello."]);
  });
});
