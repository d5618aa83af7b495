import { assert, asyncProperty, boolean, integer, record } from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../base/json.ts";
import { defineAgent } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { type Answer, defineTool, type Question, type Tool, type ToolContext } from "../../kernel/tool.ts";
import { fold } from "../../runtime/facts.ts";
import type { Result } from "../../runtime/result.ts";
import { type RunOptions, resume, run } from "../../runtime/run.ts";
import type { Run } from "../../runtime/run-handle.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type ScriptedCall, scriptedModel } from "../../testing/scripted-model.ts";
import { asQuestion } from "./question.ts";

const input = { type: "object" } as const;
const schema = { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] };
const whichSeat: Question = { message: "Which seat?", schema, url: "https://example.com/seats", state: 7 };

type Execution = { readonly answers: readonly Answer[]; readonly key: string };

/** A tool that asks these questions one after the other, and then returns the answers. */
function createAskingTool(questions: readonly Question[], settings: Partial<Tool> = {}) {
  const executed: Execution[] = [];
  const execute = (_input: unknown, { answers, idempotencyKey }: ToolContext) => {
    executed.push({ answers, key: idempotencyKey });
    const ask = questions[answers.length];
    return ask ? { ask } : { told: answers.map((answer) => (answer.approved ? answer.value : "no")) };
  };
  const tool: Tool = {
    ...defineTool({ name: "book", description: "Books", input, reads: [], execute }),
    ...settings,
  };
  return { tool, executed };
}

const oneCall: readonly ScriptedCall[] = [{ id: "c1", name: "book" }];

function agentWith(tools: readonly Tool[], calls = oneCall, policy: PolicyOverrides = {}) {
  const model = scriptedModel(({ history }) =>
    history.some(({ type }) => type === "result") ? { text: "Done." } : { calls },
  );
  return defineAgent({ name: "a", model, tools, policy });
}

const options = (): RunOptions => ({
  session: "s",
  runId: "r",
  store: memory(),
  clock: fakeClock({ skipUpToMs: 30_000 }),
});

const listContents = (result: Result) =>
  result.toolCalls.map(({ status, result: said }) => `${status} ${said}`);
const listFactTypes = (facts: readonly Fact[]) => facts.map(({ type }) => type);

describe("a tool that asks in the middle of a call", () => {
  it("makes the run wait with the question, as for an approval, and continues with the answer (S3-21)", async () => {
    const { tool, executed } = createAskingTool([whichSeat]);
    const started = run(agentWith([tool]), "Book.", options());
    const waiting = await collect(started);
    const { state: _, ...question } = whichSeat;
    expect(waiting.result).toMatchObject({
      status: "waiting",
      text: 'Waiting for your answer to "book" (Which seat?).',
      pending: [{ callId: "c1", name: "book", needs: "approval", reason: "Which seat?" }],
    });
    expect(waiting.result.pending[0]?.question).toEqual(question);
    expect(listFactTypes(waiting.facts).slice(2)).toEqual([
      ...["message", "tool_call_start", "approval_required", "waiting"],
    ]);
    const done = await collect(started.approve("c1", { seat: "3A" }));
    expect(listFactTypes(done.facts).slice(0, 3)).toEqual([
      ...["approval_resolved", "tool_call_start", "tool_call_result"],
    ]);
    expect(listContents(done.result)).toEqual(['ok {"told":[{"seat":"3A"}]}']);
    expect(executed).toEqual([
      { answers: [], key: "r/c1" },
      { answers: [{ approved: true, value: { seat: "3A" }, state: 7 }], key: "r/c1" },
    ]);
  });

  it("receives a denial, which does not refuse the call", async () => {
    const { tool, executed } = createAskingTool([whichSeat]);
    const started = run(agentWith([tool]), "Book.", options());
    await started;
    expect(listContents(await started.deny("c1", "None of them."))).toEqual(['ok {"told":["no"]}']);
    expect(executed[1]?.answers).toEqual([{ approved: false, reason: "None of them.", state: 7 }]);
  });

  it("may ask again, and gets all answers in the order asked", async () => {
    const { tool, executed } = createAskingTool([
      { message: "One?" },
      { message: "Two?" },
      { message: "Three?" },
    ]);
    const started = run(agentWith([tool]), "Book.", options());
    const digests = new Set<unknown>();
    for (const value of [1, null, "3"]) {
      digests.add((await started).pending[0]?.digest);
      started.approve("c1", value);
    }
    expect(listContents(await started)).toEqual(['ok {"told":[1,null,"3"]}']);
    expect(executed.map(({ answers }) => answers.length)).toEqual([0, 1, 2, 3]);
    expect(digests.size).toBe(3);
  });

  it("cannot ask endlessly: after ten questions the call fails with the reason", async () => {
    const ask = () => ({ ask: { message: "Again?" } });
    const { tool } = createAskingTool([], { execute: ask, effects: "none" });
    const started = run(agentWith([tool]), "Book.", options());
    for (let count = 0; count < 10; count++) {
      expect((await started).status).toBe("waiting");
      started.approve("c1");
    }
    expect(listContents(await started)).toEqual([
      'error Tool execution failed: "book" cannot ask: it has asked 10 times in this call.',
    ]);
  });

  it("needs approval of the call first, in a separate fact, like any other tool", async () => {
    const { tool, executed } = createAskingTool([{ message: "Which?" }], {
      needsApproval: () => "It costs.",
    });
    const settings = options();
    const started = run(agentWith([tool]), "Book.", settings);
    expect((await started).pending).toMatchObject([{ reason: "It costs." }]);
    started.approve("c1");
    expect((await started).pending).toMatchObject([{ reason: "Which?" }]);
    expect(executed).toHaveLength(1);
    expect(listContents(await started.approve("c1", "that"))).toEqual(['ok {"told":["that"]}']);
    const facts = (await settings.store?.read("s")) ?? [];
    expect(facts.flatMap(({ type, id }) => (type.startsWith("approval") ? id : []))).toEqual([
      ...["r/approval_required/c1", "r/approval_resolved/c1"],
      ...["r/approval_required.1/c1", "r/approval_resolved.1/c1"],
    ]);
  });

  it("has invisible characters in its question escaped (A109)", async () => {
    const { tool } = createAskingTool([{ message: "Pay \u202e001\u202c euros?\u200b" }]);
    const { pending } = await run(agentWith([tool]), "Book.", options());
    expect(pending[0]?.reason).toBe("Pay \\u{202e}001\\u{202c} euros?\\u{200b}");
  });

  it("does not affect other calls, and several can ask at once", async () => {
    const { tool } = createAskingTool([{ message: "Which?" }]);
    const look = defineTool({ name: "look", description: "Looks", input, execute: () => "seen" });
    const calls = [...oneCall, { id: "c2", name: "look" }, { id: "c3", name: "book" }];
    const started = run(agentWith([tool, look], calls), "Book.", options());
    expect((await started).pending.map(({ callId }) => callId)).toEqual(["c1", "c3"]);
    started.approve("c3", 3);
    expect((await started).pending.map(({ callId }) => callId)).toEqual(["c1"]);
    const result = await started.deny("c1");
    expect(listContents(result)).toEqual(['ok {"told":["no"]}', "ok seen", 'ok {"told":[3]}']);
  });

  it("adds its labels to the conversation with its question (A29)", async () => {
    const { tool } = createAskingTool([{ message: "Which?" }], { reads: ["untrusted"] });
    const { facts } = await collect(run(agentWith([tool]), "Book.", options()));
    expect(fold("s", facts).labels.untrusted).toMatchObject([{ tool: "book", turn: 1 }]);
  });
});

describe("an answer", () => {
  it.each<[string, Json | undefined]>([
    ["of another form", { seat: 3 }],
    ["left out", undefined],
  ])("%s is refused by the schema of the question, and the call still waits", async (_, value) => {
    const { tool, executed } = createAskingTool([whichSeat]);
    const started = run(agentWith([tool]), "Book.", options());
    await started;
    await expect(started.approve("c1", value)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(
        /^The answer to call "c1" does not match the schema of the question from "book": /,
      ),
    });
    expect(executed).toHaveLength(1);
    expect((await started.deny("c1")).status).toBe("done");
  });

  it("can be given again after a rejected one, and the signal of the run still works", async () => {
    const controller = new AbortController();
    const { tool } = createAskingTool([whichSeat, whichSeat]);
    const started = run(agentWith([tool]), "Book.", { ...options(), signal: controller.signal });
    await started;
    await expect(started.approve("c1", 1)).rejects.toMatchObject({ code: "invalid_input" });
    expect((await started.approve("c1", { seat: "3A" })).status).toBe("waiting");
    controller.abort();
    expect((await started).status).toBe("cancelled");
  });

  it("given twice is one answer; a different one to the same question is a conflict (F57)", async () => {
    const { tool, executed } = createAskingTool([whichSeat]);
    const settings = options();
    const started = run(agentWith([tool]), "Book.", settings);
    await started;
    started.approve("c1", { seat: "3A" }).approve("c1", { seat: "3A" });
    const conflict = expect.objectContaining({ code: "approval_conflict" });
    expect(() => started.approve("c1", { seat: "4B" })).toThrow(conflict);
    expect(() => started.deny("c1")).toThrow(conflict);
    expect((await started).status).toBe("done");
    started.approve("c1", { seat: "3A" });
    expect(() => started.deny("c1")).toThrow(conflict);
    expect(executed).toHaveLength(2);
  });

  it("can deny the first question and approve the second (F57)", async () => {
    const { tool } = createAskingTool([{ message: "One?" }, { message: "Two?" }]);
    const started = run(agentWith([tool]), "Book.", options());
    await started;
    await started.deny("c1");
    expect(listContents(await started.approve("c1", 2))).toEqual(['ok {"told":["no",2]}']);
  });

  it("to a call that only needs a yes or no has no value", async () => {
    const { tool } = createAskingTool([], { needsApproval: () => true });
    const started = run(agentWith([tool]), "Book.", options());
    await started;
    expect(() => started.approve("c1", 1)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect((await started.approve("c1")).status).toBe("done");
  });

  it("does not reach a tool whose definition has changed (A109)", async () => {
    const settings = options();
    await run(agentWith([createAskingTool([whichSeat]).tool]), "Book.", settings);
    const { tool, executed } = createAskingTool([whichSeat], { description: "Books, and pays at once" });
    const from = { store: settings.store ?? memory(), runId: "r" };
    const result = await resume(agentWith([tool]), from, { clock: settings.clock ?? fakeClock() }).approve(
      "c1",
      { seat: "3A" },
    );
    expect(result.toolCalls).toMatchObject([{ status: "denied" }]);
    expect(executed).toEqual([]);
  });
});

describe("the policy for approvals", () => {
  it("`deny` denies every question at once, without waiting", async () => {
    const { tool, executed } = createAskingTool([whichSeat]);
    const { facts, result } = await collect(
      run(agentWith([tool], oneCall, { approvals: "deny" }), "Book.", options()),
    );
    expect(listContents(result)).toEqual(['ok {"told":["no"]}']);
    expect(executed[1]?.answers).toMatchObject([{ approved: false, reason: expect.any(String) }]);
    expect(listFactTypes(facts)).not.toContain("waiting");
  });

  it("`allow` answers no question, because the value is unknown", async () => {
    const { tool } = createAskingTool([{ message: "Which?" }], { needsApproval: () => true });
    const started = run(agentWith([tool], oneCall, { approvals: "allow" }), "Book.", options());
    const { facts, result } = await collect(started);
    expect(result.pending).toMatchObject([{ reason: "Which?" }]);
    expect(facts.filter(({ type }) => type === "approval_required")).toHaveLength(1);
    expect(listContents(await started.approve("c1", 1))).toEqual(['ok {"told":[1]}']);
  });
});

describe("a run that waits for an answer", () => {
  it("can be cancelled", async () => {
    const { tool } = createAskingTool([whichSeat]);
    const started = run(agentWith([tool]), "Book.", options());
    await started;
    expect(await started.cancel()).toMatchObject({
      status: "cancelled",
      toolCalls: [{ status: "interrupted" }],
      pending: [],
    });
  });

  it("resumes in another process, even for a tool that may not be repeated", async () => {
    const settings = options();
    const effects = "send" as const;
    await run(agentWith([createAskingTool([whichSeat], { effects }).tool]), "Book.", settings);
    const { tool, executed } = createAskingTool([whichSeat], { effects });
    const from = { store: settings.store ?? memory(), runId: "r" };
    const resumed = resume(agentWith([tool]), from, { clock: settings.clock ?? fakeClock() }).approve("c1", {
      seat: "3A",
    });
    expect(listContents(await resumed)).toEqual(['ok {"told":[{"seat":"3A"}]}']);
    expect(executed).toEqual([
      { answers: [{ approved: true, value: { seat: "3A" }, state: 7 }], key: "r/c1" },
    ]);
  });

  it.each([
    ["is interrupted when it may not be repeated", {}, "interrupted", 0],
    ["is executed again when it may", { effects: "none" } as const, "ok", 1],
  ])("and crashes after the answer, in mid-call: the call %s", async (_, settings, status, times) => {
    const whole = options();
    const first = run(agentWith([createAskingTool([whichSeat], settings).tool]), "Book.", whole);
    await first;
    await first.approve("c1", { seat: "3A" });
    const facts = (await whole.store?.read("s")) ?? [];
    const last = facts.findLastIndex(({ type }) => type === "tool_call_start");
    const { tool, executed } = createAskingTool([whichSeat], settings);
    const result = await resume(agentWith([tool]), facts.slice(0, last + 1));
    expect(result.toolCalls).toMatchObject([{ status }]);
    expect(executed).toHaveLength(times);
  });

  it("reaches the same history when stopped after any fact and resumed", async () => {
    const plan = record({ questions: integer({ min: 0, max: 3 }), agrees: boolean(), asks: boolean() });
    await assert(
      asyncProperty(plan, plan, async (one, two) => {
        const agent = () =>
          agentWith([createPlannedTool("one", one), createPlannedTool("two", two)], bothCalls);
        const settings = options();
        const whole = await runToEnd(run(agent(), "Book.", settings), { one, two });
        const facts = (await settings.store?.read("s")) ?? [];
        for (let kill = 1; kill < facts.length; kill++) {
          const resumed = await runToEnd(resume(agent(), facts.slice(0, kill), { clock: fakeClock() }), {
            one,
            two,
          });
          expect(resumed.history).toEqual(whole.history);
        }
      }),
      { numRuns: 12 },
    );
  });
});

type Plan = { readonly questions: number; readonly agrees: boolean; readonly asks: boolean };
const bothCalls = [
  { id: "c1", name: "one" },
  { id: "c2", name: "two" },
];

function createPlannedTool(name: string, { questions, asks }: Plan): Tool {
  const all = Array.from({ length: questions }, (_, index) => ({ message: `${index}?`, state: index }));
  const { tool } = createAskingTool(all, {
    name,
    effects: "none",
    ...(asks && { needsApproval: () => true }),
  });
  return tool;
}

/** Runs to the end; each tool always gets the same answer. */
async function runToEnd(started: Run, plans: { readonly [name: string]: Plan }): Promise<Result> {
  for (;;) {
    const result = await started;
    if (result.status !== "waiting") return result;
    for (const { callId, name, question } of result.pending) {
      if (plans[name]?.agrees) started.approve(callId, question && `yes to ${question.message}`);
      else started.deny(callId, "no");
    }
  }
}

describe("an unanswerable question", () => {
  it.each<[string, Question, RegExp]>([
    ["with a schema that is none", { message: "?", schema: { type: "colour" } }, /schema of a question/],
    ["with a pattern that explodes", { message: "?", schema: { pattern: "(?=a)+$" } }, /question of "book"/],
    ["of a boundless size", { message: "?", state: "x".repeat(200_000) }, /larger than 100000/],
  ])("%s is an error of the tool (A53)", async (_, question, message) => {
    const { tool } = createAskingTool([question]);
    const result = await run(agentWith([tool]), "Book.", options());
    expect(result).toMatchObject({ status: "done", toolCalls: [{ status: "error" }] });
    expect(result.toolCalls[0]?.result).toMatch(message);
  });

  it("of the fallback tool of a run is an error of the tool", async () => {
    const { tool: fallbackTool } = createAskingTool([{ message: "Which?" }]);
    const model = scriptedModel([{ text: "", calls: [{ name: "look" }] }]);
    const look = defineTool({ name: "look", description: "Looks", input, execute: () => "seen" });
    const policy: PolicyOverrides = { maxTurns: 1, finalTurn: "keep-tools", onLimit: ["fallback-tool"] };
    const agent = defineAgent({ name: "a", model, tools: [look], fallbackTool, policy });
    const result = await run(agent, "Go.", options());
    expect(result.status).toBe("limit");
    expect(result.toolCalls.at(-1)).toMatchObject({ name: "book", status: "error" });
  });
});

describe("a returned value", () => {
  it.each([
    [{ ask: { message: "Which?" } }],
    [{ ask: { message: "", schema: {}, url: "https://example.com", state: null } }],
  ])("%j is a question", (returned) => {
    expect(asQuestion(returned)).toEqual(returned.ask);
  });

  it.each([
    [{ ask: 101.5 }],
    [{ ask: { message: "Which?" }, bid: 1 }],
    [{ ask: { message: 1 } }],
    [{ ask: { message: "Which?", more: 1 } }],
    [{ ask: { message: "Which?", schema: [] } }],
    [{ ask: { message: "Which?", url: 1 } }],
    [[{ ask: { message: "Which?" } }]],
    ["ask"],
    [null],
  ])("%j is a value", (returned) => {
    expect(asQuestion(returned)).toBeUndefined();
  });

  it("that cannot be inspected is a value too", () => {
    const hostile = new Proxy({}, { get: () => expect.fail("trapped"), ownKeys: () => [] });
    expect(asQuestion(hostile)).toBeUndefined();
  });
});
