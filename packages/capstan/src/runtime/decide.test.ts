import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent, indexAgents } from "../kernel/agent.ts";
import type { ModelEffect, SummaryEffect } from "../kernel/effect.ts";
import type { Fact } from "../kernel/event.ts";
import { createState } from "../kernel/state.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { readCpuMs } from "../testing/cpu-time.ts";
import { type Script, scriptedModel } from "../testing/scripted-model.ts";
import { decide, rules } from "./decide.ts";
import { fold } from "./facts.ts";
import { run } from "./run.ts";

const input = { type: "object" } as const;
const look = defineTool({ name: "look", description: "Looks.", input, execute: () => "Seen." });
const send = defineTool({
  name: "send",
  description: "Sends.",
  input,
  effects: "send",
  execute: () => "Sent.",
});

async function recordFacts(script: Script, more: Partial<AgentDefinition> = {}) {
  const agent = defineAgent({ name: "helper", tools: [look, send], ...more, model: scriptedModel(script) });
  const { facts } = await collect(run(agent, "Go.", { store: memory(), session: "s", runId: "r" }));
  return { facts, agents: indexAgents(agent) };
}

const busy: Script = [
  { calls: [{ name: "look" }, { name: "send" }, { name: "look", input: { n: 2 } }] },
  { calls: [{ name: "nope" }] },
  { text: "Done." },
];

describe("decide", () => {
  it("asks the rules in this order: ends before approvals, approvals before calls, limits before turns", () => {
    expect(rules.map(({ name }) => name)).toEqual([
      "stopWhenEnded",
      "stopWhenCancelled",
      "stopWhenQuarantined",
      "handleModelFailure",
      "compactOnRequest",
      "expireApprovals",
      "reuseCachedResults",
      "refuseCalls",
      "requestApprovals",
      "settleHandoffCalls",
      "runToolCalls",
      "endTurn",
      "summarizeTurn",
      "failOnDeniedHandoff",
      "performHandoff",
      "answerOnLimit",
      "awaitBackground",
      "acceptAnswer",
      "stopOnRepetition",
      "answerWhenToolsFailed",
      "stopAtBudget",
      "stopAtTurnLimit",
      "startNextTurn",
    ]);
  });

  it("rejects a session without a run", () => {
    expect(() => decide(new Map(), createState("s"))).toThrow(
      expect.objectContaining({ code: "unknown_run", message: 'The session "s" has no run to continue.' }),
    );
  });

  it.each<[string[], string]>([
    [["other", "third"], '"other", "third"'],
    [[], "none"],
  ])("rejects a run whose agent is not among %j, and names it", async (names, given) => {
    const { facts } = await recordFacts([{ text: "Done." }]);
    const others = names.map((name) => defineAgent({ name, model: scriptedModel([]) }));
    expect(() => decide(indexAgents(others), fold("s", facts.slice(0, 1)))).toThrow(
      expect.objectContaining({
        code: "unknown_agent",
        message: `The run "r" needs the agent "helper"; available: ${given}.`,
      }),
    );
  });

  it("decides in this order: calls, end of turn, answer", async () => {
    const { facts, agents } = await recordFacts(busy);
    const decisions: string[] = [];
    for (let count = 1; count <= facts.length; count++) {
      const decision = decide(agents, fold("s", facts.slice(0, count)));
      decisions.push(
        decision.type === "stop" ? decision.reason : decision.effects.map(({ id }) => id).join(" "),
      );
    }
    const decided = decisions.filter((decision, index) => decision !== decisions[index - 1]);
    expect(decided.filter((decision) => !decision.startsWith("interrupted"))).toMatchInlineSnapshot(`
      [
        "turn.1.0",
        "call.call_1_0",
        "call.call_1_1",
        "call.call_1_2",
        "end.1",
        "turn.2.0",
        "call.call_2_0",
        "end.2",
        "turn.3.0",
        "end.3",
        "answer",
        "done",
      ]
    `);
  });

  it("stops once a run is done", async () => {
    const { facts, agents } = await recordFacts([{ text: "Done." }]);
    expect(decide(agents, fold("s", facts))).toEqual({ type: "stop", reason: "done" });
  });

  it("is pure: it changes nothing and makes the same decision again, after every fact", async () => {
    const { facts, agents } = await recordFacts(busy);
    for (let count = 1; count <= facts.length; count++) {
      const state = fold("s", facts.slice(0, count));
      const before = structuredClone(state);
      const decision = decide(agents, state);
      expect(decide(agents, state)).toEqual(decision);
      expect(state).toEqual(before);
    }
  });

  it("returns effects that are JSON, so that any engine can transport them", async () => {
    const { facts, agents } = await recordFacts(busy);
    for (let count = 1; count <= facts.length; count++) {
      const decision = decide(agents, fold("s", facts.slice(0, count)));
      expect(JSON.parse(JSON.stringify(decision))).toEqual(decision);
    }
  });

  it("gives every effect of a run its own id, except for repeated steps", async () => {
    const { facts, agents } = await recordFacts(busy);
    const ids = new Map<string, string>();
    for (let count = 1; count <= facts.length; count++) {
      const decision = decide(agents, fold("s", facts.slice(0, count)));
      for (const effect of decision.type === "effects" ? decision.effects : []) {
        const what =
          effect.type === "tool"
            ? effect.callId
            : effect.type === "note"
              ? effect.facts
              : effect.type === "turn_summary"
                ? effect.turn
                : effect.type === "shorten"
                  ? effect.results
                  : getEffectPosition(effect);
        const known = ids.get(effect.id);
        if (known !== undefined) expect(JSON.stringify(what)).toBe(known);
        ids.set(effect.id, JSON.stringify(what));
      }
    }
    expect(ids.size).toBeGreaterThan(8);
  });

  it("costs the same at turn 1,000 as at turn 10", async () => {
    const { facts, agents } = await recordFacts(
      (_request, n) => (n === 1000 ? { text: "Done." } : { calls: [{ name: "look", input: { n } }] }),
      { policy: { maxTurns: "unlimited" } },
    );
    const ended = (turn: number) =>
      fold(
        "s",
        facts.slice(0, facts.findIndex((fact) => fact.type === "turn_end" && fact.turn === turn) + 1),
      );
    const time = (state: ReturnType<typeof fold>) => {
      const started = readCpuMs();
      for (let turnState = 0; turnState < 5000; turnState++) decide(agents, state);
      return readCpuMs() - started;
    };
    const [early, late] = [ended(10), ended(1000)];
    time(early);
    time(late);
    const best = (state: ReturnType<typeof fold>) =>
      Math.min(...Array.from({ length: 5 }, () => time(state)));
    expect(best(late)).toBeLessThan(best(early) * 5 + 5);
  });
});

describe("the order of the rules", () => {
  const withFact = (facts: readonly Fact[], body: object): Fact[] => {
    const last = facts.at(-1);
    if (!last) throw new Error("There are no facts.");
    const { runId, sessionId, agent, turn, at, seq } = last;
    return [...facts, { runId, sessionId, agent, turn, at, seq: seq + 1, id: "extra", ...body } as Fact];
  };

  it("puts the end before a late cancellation", async () => {
    const { facts, agents } = await recordFacts([{ text: "Done." }]);
    const late = withFact(facts, { type: "cancel_requested", reason: "Late." });
    expect(decide(agents, fold("s", late))).toEqual({ type: "stop", reason: "done" });
  });

  it("puts a cancellation before calls that could run", async () => {
    const { facts, agents } = await recordFacts(busy);
    const asked = facts.slice(0, facts.findIndex(({ type }) => type === "message") + 1);
    const cancelled = withFact(asked, { type: "cancel_requested", reason: "Stop." });
    expect(decide(agents, fold("s", cancelled))).toMatchObject({
      effects: [
        {
          facts: [
            { type: "tool_call_result", status: "skipped" },
            { type: "tool_call_result", status: "skipped" },
            { type: "tool_call_result", status: "skipped" },
            { type: "turn_end" },
            { type: "done", status: "cancelled" },
          ],
        },
      ],
    });
  });

  it("puts repetition before a spent budget, and both before the turn limit (S2-61)", async () => {
    const same: Script = () => ({ calls: [{ name: "look" }] });
    const policy = { maxTurns: 3, finalTurn: "keep-tools" } as const;
    const limitOf = async (more: AgentDefinition["policy"]) => {
      const { facts } = await recordFacts(same, { policy: { ...policy, ...more } });
      return facts.flatMap((fact) => (fact.type === "limit_reached" ? [fact.code] : []));
    };
    const patient = { repetition: { nudgeAt: 9, stopAt: 9 } };
    expect(await limitOf({})).toEqual(["stuck_loop"]);
    expect(await limitOf({ ...patient, budget: { tokens: 40 } })).toEqual(["budget_tokens"]);
    expect(await limitOf(patient)).toEqual(["max_turns"]);
  });

  it("puts an answer before the budget it used up", async () => {
    const { facts } = await recordFacts([{ text: "Done." }], { policy: { budget: { tokens: 1 } } });
    expect(facts.at(-1)).toMatchObject({ type: "done", status: "done", text: "Done." });
  });
});

function getEffectPosition(effect: ModelEffect | SummaryEffect): number {
  return effect.type === "model" ? effect.turn : effect.number;
}
