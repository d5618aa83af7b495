import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { local } from "../engines/local.ts";
import { agentTool } from "../features/nested/agent-tool.ts";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { recorded } from "../models/recorded.ts";
import { loadRunFacts } from "../runtime/load-facts.ts";
import { run } from "../runtime/run.ts";
import { sessions } from "../sessions/sessions.ts";
import { memory } from "../stores/memory.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { type Script, scriptedModel } from "../testing/scripted-model.ts";
import { defineEval, type EvalDefinition } from "./define-eval.ts";
import type { EvalCase } from "./eval-case.ts";
import { expectEval } from "./expect-eval.ts";
import type { Experiment } from "./experiment.ts";
import {
  findExperiment,
  listExperiments,
  loadExperiment,
  saveExperimentInfo,
  saveReview,
} from "./records.ts";
import { runEval } from "./run-eval.ts";
import { scorers } from "./scorers.ts";
import { toCase } from "./to-case.ts";
import { listToolRecordings } from "./tool-recordings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-evals-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

let executions: string[] = [];
beforeEach(() => {
  executions = [];
});

const stock = defineTool({
  name: "stock",
  description: "Counts an item",
  input: { item: { type: "string", required: true } },
  effects: "none",
  execute({ item }) {
    executions.push(`stock ${item}`);
    return { message: `${item}: ${item.length}`, data: { count: item.length } };
  },
});
const order = defineTool({
  name: "order",
  description: "Orders an item",
  input: { item: { type: "string", required: true } },
  effects: "send",
  needsApproval: true,
  execute({ item }) {
    executions.push(`order ${item}`);
    return `Ordered ${item}`;
  },
});

/** Calls the tools that the message names, one by one, and answers with the last result. */
const script: Script = ({ history }) => {
  const start = history.findLastIndex(({ type }) => type === "user");
  const message = history[start];
  const words =
    message?.type === "user" && typeof message.content === "string" ? message.content.split(" ") : [];
  const results = history.slice(start).filter((entry) => entry.type === "result");
  const [name, item = "lamp"] = words[results.length]?.split(":") ?? [];
  if (name === "stock" || name === "order") return { calls: [{ name, input: { item } }] };
  const last = results.at(-1);
  return { text: `Answer: ${last?.type === "result" ? last.content : "nothing"}` };
};

const createShop = () => defineAgent({ name: "shop", model: scriptedModel(script), tools: [stock, order] });
const cases: readonly EvalCase[] = [
  { id: "lamp", input: "stock:lamp", expected: "lamp: 4", calls: ["stock"] },
  { id: "chair", input: "stock:chair", expected: "chair: 5", calls: ["stock"] },
];
const createEval = (changes: Partial<EvalDefinition> = {}) =>
  defineEval({ name: "shop", agent: createShop(), cases, scorers: [scorers.contains()], ...changes });

/** Everything but ids and times. */
function normalize(experiment: Experiment): unknown {
  const { id: _id, createdAt: _created, endedAt: _ended, results, summary, ...rest } = experiment;
  const { meanMs: _ms, ...counts } = summary;
  return {
    ...rest,
    summary: counts,
    results: results.map(({ runId: _run, sessionId: _session, ms: _time, ...result }) => result),
  };
}

describe("an experiment", () => {
  it("runs each case as often as asked, as ordinary stored runs in sessions of their own", async () => {
    const store = sqlite(join(folder, "runs.db"));
    const experiment = await runEval(createEval({ attempts: 3 }), { store });
    expect(experiment).toMatchObject({ name: "shop", agent: "shop", status: "done", attempts: 3 });
    expect(experiment.results.map(({ caseId, attempt }) => `${caseId} ${attempt}`)).toEqual([
      ...["lamp 1", "lamp 2", "lamp 3", "chair 1", "chair 2", "chair 3"],
    ]);
    expect(experiment.summary).toMatchObject({ passed: 6, passRate: 1, results: 6 });
    expect(new Set(experiment.results.map(({ sessionId }) => sessionId)).size).toBe(6);
    for (const { runId, sessionId } of experiment.results)
      expect(await store.findRun(runId)).toMatchObject({ agent: "shop", state: "ended", sessionId });
    expect(await loadExperiment(store, experiment.id, Date.now())).toMatchObject({
      summary: experiment.summary,
      cases: expect.arrayContaining([...cases]),
    });
    await store.close();
  });

  it("stops when a quota refuses a run, also that of a judge, and is continued with the open attempts", async () => {
    const store = memory();
    const judge = scorers.judge({
      model: scriptedModel(() => ({ text: '{"reason":"good","rating":5}' })),
      rubric: "Is it right?",
    });
    const started: string[] = [];
    const runWithQuota = (quota: number) => {
      let left = quota;
      return runEval(createEval({ scorers: [judge] }), {
        ...{ store, id: "exp_quota", concurrency: 1 },
        getRunOptions({ runId }) {
          if (left-- === 0) throw new AgentError("quota_exceeded", "Your quota of runs is used up.");
          started.push(runId);
          return {};
        },
      });
    };
    const stopped = await runWithQuota(3); // a run and its judge, and a run
    expect(stopped).toMatchObject({
      status: "stopped",
      error: { code: "quota_exceeded", message: "Your quota of runs is used up." },
      results: [{ caseId: "lamp", passed: true }],
    });
    for (const runId of started) expect(await store.findRun(runId)).toMatchObject({ state: "ended" });
    const done = await runWithQuota(2);
    expect(done).toMatchObject({ status: "done", summary: { passed: 2 } });
    expect(done.results[0]).toEqual(stopped.results[0]);
    expect(started).toHaveLength(5);
  });

  it("does not hide the conversations of the user: its sessions are not in their list", async () => {
    const store = memory();
    for (const session of ["first", "second"]) await run(createShop(), "Hello", { store, session });
    await runEval(createEval({ attempts: 3 }), { store });
    await run(createShop(), "Hello", { store, session: "third" });
    const list = async (limit?: number) =>
      (await sessions(store).list(limit === undefined ? {} : { limit })).map(({ id }) => id).sort();
    expect(await list()).toEqual(["first", "second", "third"]);
    expect(await list(2)).toContain("third");
    expect(await list(2)).toHaveLength(2);
    expect(await store.list()).toHaveLength(9);
  });

  it("runs at most as many cases at the same time as allowed", async () => {
    let [current, most] = [0, 0];
    const slow = defineTool({
      name: "stock",
      description: "Counts",
      effects: "none",
      input: { item: { type: "string", required: true } },
      async execute() {
        most = Math.max(most, ++current);
        await new Promise((resolve) => setImmediate(resolve));
        current--;
        return "5";
      },
    });
    const agent = defineAgent({ name: "shop", model: scriptedModel(script), tools: [slow] });
    const many = Array.from({ length: 12 }, (_, index) => ({
      id: `c${index}`,
      input: "stock:x",
      expected: "5",
    }));
    await runEval(createEval({ agent, cases: many }), { concurrency: 3 });
    expect(most).toBe(3);
  });

  it("reports a run that fails, and one that cannot start, without ending", async () => {
    const agent = ({ id }: EvalCase) => {
      if (id === "lamp") throw new Error("no lamp today");
      return defineAgent({ name: "shop", model: scriptedModel([{ error: new Error("down") }]) });
    };
    const { results, status } = await runEval(createEval({ agent }));
    expect(status).toBe("done");
    expect(results[0]).toMatchObject({ runId: "", error: { code: "internal", message: "no lamp today" } });
    expect(results[1]).toMatchObject({ status: "failed", scores: [{ passed: false }] });
  });

  it("is cancelled with the results so far, and continued without repeating them", async () => {
    const store = memory();
    const controller = new AbortController();
    const definition = createEval({ attempts: 2 });
    const onResult = (_: unknown, { done }: { done: number }) => {
      if (done === 2) controller.abort();
    };
    const options = { store, concurrency: 1, id: "exp_1" };
    const first = await runEval(definition, { ...options, signal: controller.signal, onResult });
    expect(first).toMatchObject({ status: "cancelled", results: [{}, {}] });
    const second = await runEval(definition, options);
    expect(second.status).toBe("done");
    expect(second.createdAt).toBe(first.createdAt);
    expect(second.results).toHaveLength(4);
    expect(second.results.slice(0, 2)).toEqual(first.results);
    expect(executions).toHaveLength(4);
  });

  it("whose process is gone is listed as interrupted", async () => {
    const store = memory();
    const { cases: list, results: _results, ...info } = await runEval(createEval(), { store });
    await saveExperimentInfo(store, { ...info, status: "running", caseCount: list.length }, 1000);
    expect(await listExperiments(store, 1000 + 30_000)).toMatchObject([{ status: "running" }]);
    expect(await listExperiments(store, 1000 + 61_000)).toMatchObject([{ status: "interrupted" }]);
  });

  it("that is killed leaves a run that an engine cancels, without calling the tools for real", async () => {
    const store = memory();
    const ordering = { id: "o", input: "stock:lamp stock:lamp" };
    const controller = new AbortController();
    let copy = memory();
    const stopHere = async () => {
      // What another process would find if this one were killed now.
      const [session] = await store.list();
      const facts = await store.read(session?.id ?? "");
      copy = memory();
      const lease = await copy.lease(session?.id ?? "", "killed", 1);
      if (lease) await copy.append(facts, { expected: 0, lease });
      controller.abort();
      return "simulated";
    };
    const definition = createEval({ cases: [ordering], tools: { stock: { simulated: stopHere } } });
    await runEval(definition, { store, signal: controller.signal });
    await expect.poll(() => copy.listOrphans()).toMatchObject([{ agent: "shop", state: "active" }]);
    const [orphan] = await copy.listOrphans();
    const engine = local({ store: copy, agents: [createShop()], leaseMs: 30 });
    await expect.poll(async () => (await copy.findRun(orphan?.runId ?? ""))?.state).toBe("ended");
    await engine.close();
    const end = (await loadRunFacts(copy, orphan?.runId ?? "")).at(-1);
    expect(end).toMatchObject({ type: "done", status: "cancelled" });
    expect(executions).toEqual([]);
  });

  it("is found by its id, or by the version of its agent", async () => {
    const store = memory();
    const { cases: list, results: _results, ...info } = await runEval(createEval(), { store });
    await saveExperimentInfo(store, { ...info, agentVersion: "abc123", caseCount: list.length }, 0);
    expect((await findExperiment(store, { name: "shop", against: "abc123" }, 0)).id).toBe(info.id);
    expect((await findExperiment(store, { name: "shop", against: info.id }, 0)).id).toBe(info.id);
    await expect(findExperiment(store, { name: "shop", against: "other" }, 0)).rejects.toThrow(info.id);
  });
});

describe("tools in an experiment", () => {
  it("recorded ones and a recorded model make it free, offline and the same every time", async () => {
    const files = { model: join(folder, "model.jsonl"), tools: join(folder, "tools.jsonl") };
    const withModel = (model = recorded(undefined, files.model, { mode: "replay" })) =>
      createEval({
        agent: defineAgent({ name: "shop", model, tools: [stock, order] }),
        cases: [...cases, { id: "both", input: "stock:desk order:desk", expected: "Ordered desk" }],
        scorers: [scorers.contains(), scorers.callSequence(), scorers.maxTurns(3)],
        tools: { stock: "recorded", order: "recorded" },
        recordings: files.tools,
        approvals: "all",
        attempts: 2,
      });
    const real = recorded(scriptedModel(script), files.model);
    await runEval(withModel(real), { record: true });
    expect(executions.sort()).toEqual([
      ...["order desk", "order desk", "stock chair", "stock chair"],
      ...["stock desk", "stock desk", "stock lamp", "stock lamp"],
    ]);
    executions = [];
    const first = await runEval(withModel());
    const second = await runEval(withModel(), { concurrency: 1 });
    expect(first.summary.passRate).toBe(1);
    expect(normalize(second)).toEqual(normalize(first));
    expect(executions).toEqual([]);
  });

  it("without a recording give a named error, and are never called for real", async () => {
    const facts = await (async () => {
      const store = memory();
      const { runId } = await run(createShop(), "stock:lamp", { store });
      return loadRunFacts(store, runId);
    })();
    executions = [];
    const definition = createEval({ tools: { stock: "recorded" }, recordings: facts });
    const { results, summary } = await runEval(definition);
    expect(results).toMatchObject([
      { scores: [{ passed: true }] },
      {
        error: {
          code: "recording_missing",
          message: expect.stringContaining('"stock" for {"item":"chair"}'),
        },
      },
    ]);
    expect(summary.passed).toBe(1);
    expect(executions).toEqual([]);
    await expect(expectEval(definition)).rejects.toMatchObject({
      code: "eval_failed",
      message: expect.stringContaining("1 of 2 attempts could not be evaluated."),
    });
    await expect(
      runEval(createEval({ tools: { stock: "recorded" }, recordings: join(folder, "none") })),
    ).rejects.toMatchObject({ code: "recording_missing" });
    writeFileSync(join(folder, "bad.jsonl"), '{"tool":"stock"}\n');
    await expect(
      runEval(createEval({ tools: { stock: "recorded" }, recordings: join(folder, "bad.jsonl") })),
    ).rejects.toThrow("bad.jsonl:1 is not a recorded tool call");
  });

  it("replay a recorded result as it was: the fact has the same content, data and message", async () => {
    const store = memory();
    const original = await run(createShop(), "stock:lamp", { store });
    const facts = await loadRunFacts(store, original.runId);
    const { results } = await runEval(createEval({ tools: { "*": "recorded" }, recordings: facts }), {
      store,
    });
    const replayed = await loadRunFacts(store, results[0]?.runId ?? "");
    expect(listToolRecordings(replayed)).toEqual(listToolRecordings(facts));
    expect(listToolRecordings(facts)).toMatchObject([{ tool: "stock", result: { data: { count: 4 } } }]);
  });

  it("answer from the run that a case was saved from, the n-th identical call with the n-th answer", async () => {
    const store = memory();
    let count = 0;
    const counter = defineTool({
      name: "stock",
      description: "Counts",
      input: { item: { type: "string", required: true } },
      effects: "state",
      execute: () => `count ${++count}`,
    });
    const agent = defineAgent({ name: "shop", model: scriptedModel(script), tools: [counter] });
    const { runId } = await run(agent, "stock:x stock:x", { store });
    const saved = toCase(await loadRunFacts(store, runId), { id: "twice" });
    expect(saved).toMatchObject({ input: "stock:x stock:x", expected: "Answer: count 2", source: { runId } });
    const { results } = await runEval(
      createEval({
        agent,
        cases: [saved],
        scorers: [scorers.exact(), scorers.callSequence()],
        tools: { stock: "recorded" },
      }),
      { store },
    );
    expect(results[0]?.scores).toMatchObject([{ passed: true }, { passed: true }]);
    expect(count).toBe(2);
  });

  it("simulated ones answer with a value or a function, also those of a sub-agent", async () => {
    const clerk = defineAgent({ name: "clerk", model: scriptedModel(script), tools: [stock] });
    const ask = agentTool(clerk, { name: "ask", description: "Asks the clerk" });
    const model = scriptedModel(({ history }) => {
      const last = history.at(-1);
      return last?.type === "result"
        ? { text: String(last.content) }
        : { calls: [{ name: "ask", input: { prompt: "stock:lamp" } }] };
    });
    const boss = defineAgent({ name: "boss", model, tools: [ask] });
    const simulated = (input: { item: string }) => `simulated ${input.item}`;
    const { results } = await runEval(
      createEval({
        agent: boss,
        cases: [{ id: "a", input: "Go", expected: "simulated lamp" }],
        tools: { stock: { simulated } },
      }),
    );
    expect(results[0]).toMatchObject({ scores: [{ passed: true }] });
    expect(executions).toEqual([]);
    const fixed = await runEval(createEval({ tools: { stock: { simulated: "4 lamps" } } }));
    expect(fixed.results[0]?.text).toBe("Answer: 4 lamps");
  });

  it("that the agent does not have are an error of the case", async () => {
    const { results } = await runEval(createEval({ tools: { stok: "simulated" } }));
    expect(results[0]?.error?.message).toBe('The agent "shop" has no tool "stok". Did you mean "stock"?');
  });

  it("that need approval are executed only if they are not real, unless all are approved", async () => {
    const ordering = [{ id: "o", input: "order:lamp", expected: "Ordered lamp", forbidden: ["order"] }];
    const runWith = async (changes: Partial<EvalDefinition>) =>
      (await runEval(createEval({ cases: ordering, ...changes }))).results[0]?.text;
    expect(await runWith({})).not.toContain("Ordered");
    expect(executions).toEqual([]);
    expect(await runWith({ tools: { order: { simulated: "Ordered lamp" } } })).toContain("Ordered lamp");
    expect(executions).toEqual([]);
    expect(await runWith({ tools: { order: "simulated" }, approvals: "none" })).not.toContain("Done.");
    expect(await runWith({ approvals: "all" })).toContain("Ordered lamp");
    expect(executions).toEqual(["order lamp"]);
  });

  it("that the client executes must be simulated", async () => {
    const camera = defineTool({
      name: "stock",
      description: "Takes a picture",
      input: { item: { type: "string" } },
    });
    const agent = defineAgent({ name: "shop", model: scriptedModel(script), tools: [camera] });
    const { results } = await runEval(createEval({ agent }));
    expect(results[0]).toMatchObject({
      status: "cancelled",
      error: { message: expect.stringContaining("simulate the tool") },
    });
    const simulated = await runEval(createEval({ agent, tools: { stock: { simulated: "lamp: 4" } } }));
    expect(simulated.results[0]?.scores[0]?.passed).toBe(true);
  });
});

describe("the file of recorded tools", () => {
  it("has the recorded tools only, in the order of the cases", async () => {
    const file = join(folder, "deep/tools.jsonl");
    const definition = createEval({
      cases: [...cases, { id: "both", input: "stock:desk order:desk" }],
      tools: { stock: "recorded", order: "simulated" },
      recordings: file,
    });
    await runEval(definition, { record: true });
    const lines = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => `${line.case} ${line.tool} ${line.input.item}`)).toEqual([
      "lamp stock lamp",
      "chair stock chair",
      "both stock desk",
    ]);
  });
});

describe("agreement with people", () => {
  it("is measured between the verdicts of a scorer and the reviews of its results", async () => {
    const store = memory();
    const four = ["a", "b", "c", "d"].map((id) => ({
      id,
      input: "Hi",
      expected: id < "c" ? "nothing" : "x",
    }));
    const { id } = await runEval(createEval({ cases: four }), { store });
    const reviews = { a: true, b: false, c: false, d: false };
    for (const [caseId, passed] of Object.entries(reviews))
      await saveReview(store, id, { caseId, attempt: 1, review: { passed, at: 1, by: "ada" } });
    const { summary, results } = await loadExperiment(store, id, 0);
    expect(results[0]?.review).toEqual({ passed: true, at: 1, by: "ada" });
    expect(summary.scorers[0]?.agreement).toMatchObject({ reviewed: 4, agreed: 3, rate: 0.75, kappa: 0.5 });
    await saveReview(store, id, { caseId: "b", attempt: 1, review: undefined });
    expect((await loadExperiment(store, id, 0)).summary.scorers[0]?.agreement).toMatchObject({
      reviewed: 3,
      agreed: 3,
    });
    await expect(saveReview(store, id, { caseId: "z", attempt: 1, review: undefined })).rejects.toMatchObject(
      { code: "not_found" },
    );
  });
});

describe("a case from a run", () => {
  it("has the earlier messages of its session, and the correction instead of the answer and the calls", async () => {
    const store = memory();
    const options = { store, session: "ses_1" };
    await run(createShop(), "Hello", options);
    const { runId } = await run(createShop(), "stock:lamp", options);
    const facts = await store.read("ses_1");
    const saved = toCase(facts, { expected: "Four lamps.", notes: "too terse" });
    expect(saved).toEqual({
      id: "stock:lamp",
      input: [
        { type: "user", content: "Hello" },
        { type: "assistant", parts: [{ type: "text", text: "Answer: nothing" }] },
        { type: "user", content: "stock:lamp" },
      ],
      expected: "Four lamps.",
      notes: "too terse",
      source: { runId, sessionId: "ses_1", agent: "shop" },
    });
    const { results } = await runEval(createEval({ cases: [saved] }));
    expect(results[0]).toMatchObject({
      status: "done",
      text: expect.stringContaining("lamp: 4"),
      scores: [{ passed: false }],
    });
    expect(() => toCase([])).toThrow("`run_start` is missing");
  });
});

describe("the definition of an eval", () => {
  it.each([
    [{ name: "" }, "An eval needs a name"],
    [{ name: "a/b" }, "An eval needs a name"],
    [{ agent: 7 }, "agent of the eval"],
    [{ scorers: [] }, "scorers of the eval"],
    [{ scorers: [scorers.exact(), scorers.exact()] }, 'two scorers named "exact"'],
    [{ attempts: 0 }, "attempts of the eval"],
    [{ thresholds: { passRate: 2 } }, "must have rates from 0 to 1"],
    [{ thresholds: { scores: { exat: 1 } } }, 'names the scorer "exat"'],
    [{ tools: { stock: "fake" } }, 'must be "real", "recorded", "simulated"'],
    [{ scorer: [] }, 'Unknown field "scorer"'],
    [{ cases: [{ id: "a" }] }, "Case 1 of the eval"],
    [{ cases: [cases[0], cases[0]] }, 'Two cases of the eval "shop" have the id "lamp"'],
  ])("%j is refused by name", (changes, problem) => {
    expect(() => createEval(changes as Partial<EvalDefinition>)).toThrow(problem);
  });

  it("needs cases, and an agent that exists", async () => {
    await expect(runEval(createEval({ cases: () => [] }))).rejects.toThrow('The eval "shop" has no cases');
    const { results } = await runEval(createEval({ agent: "shp" }), { agents: [createShop()] });
    expect(results[0]?.error).toMatchObject({
      code: "unknown_agent",
      message: expect.stringContaining('Did you mean "shop"?'),
    });
    const named = await runEval(createEval({ agent: "shop" }), { agents: [createShop()] });
    expect(named.summary.passRate).toBe(1);
  });

  it("closes what it has opened, also after an error", async () => {
    let closed = 0;
    const close = () => void closed++;
    await runEval(createEval({ close }));
    await expect(runEval(createEval({ close, cases: () => [] }))).rejects.toThrow();
    expect(closed).toBe(2);
  });
});
