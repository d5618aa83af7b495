import { type Fact, type Result, type Run, resume, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { expect, it } from "vitest";
import { createProgramAgent, orderProgram } from "./testing/program-agent.ts";

const session = "session";
const runId = "run";

/** Approves each call that waits, and returns the result of the run. */
async function finish(handle: Run): Promise<Result> {
  for (;;) {
    const result = await handle;
    if (result.status !== "waiting") return result;
    for (const { callId } of result.pending) handle.approve(callId);
  }
}

/** Stores these facts as those of a process that is gone, and resumes the run in this one. */
async function resumeFrom(
  stored: readonly Fact[],
  executed: string[],
): Promise<{ result: Result; facts: readonly Fact[] }> {
  const store = memory();
  const lease = await store.lease(session, "gone", 60_000);
  if (!lease) throw new Error("the session of a new store is taken");
  await store.append(stored, { expected: 0, lease });
  await store.release(lease);
  const result = await finish(resume(createProgramAgent(orderProgram, { executed }), { store, runId }));
  return { result, facts: await store.read(session) };
}

/** In `npm test` some facts, chosen at random; in the long tests all of them. */
const kills = process.env.CAPSTAN_LONG === "1" ? Number.POSITIVE_INFINITY : 5;

it("killed after any fact, a program continues: finished calls are replayed, and none is made twice (F73, A138)", async () => {
  const store = memory();
  const whole = await finish(run(createProgramAgent(orderProgram), "Go.", { store, session, runId }));
  expect(whole.text).toBe('ok: ["marked 1","marked 2","The printer is on fire","refunded 2",true,true]');
  const facts = await store.read(session);
  const distance = Math.max(1, Math.ceil(facts.length / kills));
  for (let kill = 1 + Math.floor(Math.random() * distance); kill < facts.length; kill += distance) {
    const stored = facts.slice(0, kill);
    const executed: string[] = [];
    const { result, facts: resumed } = await resumeFrom(stored, executed);
    const where = `killed after fact ${kill} of ${facts.length}, ${stored.at(-1)?.type}`;
    expect(resumed.slice(0, kill), where).toEqual(stored);
    expect(result, where).toMatchObject({ status: "done", usage: whole.usage });
    expect(new Set(executed).size, where).toBe(executed.length);
    for (const fact of stored)
      if (fact.type === "tool_call_result") expect(executed, where).not.toContain(`${fact.runId}/${fact.id}`);
    // A call of `mark` or `refund` that had started may have taken effect, so it is not made again.
    const interrupted = stored.some(
      (fact) =>
        fact.type === "tool_call_start" &&
        ["mark", "refund"].includes(fact.name) &&
        !stored.some((other) => other.type === "tool_call_result" && other.id === fact.id),
    );
    if (interrupted) {
      expect(result.text, where).toMatch(/^error: The program failed\. Line \d: ToolError: /);
      continue;
    }
    expect(result.text, where).toBe(whole.text);
    const results = resumed.filter((fact) => fact.type === "tool_call_result" && fact.name !== "run_code");
    expect(results, where).toHaveLength(6);
  }
});
