import fc from "fast-check";
import { expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { toPlainText } from "../kernel/history.ts";
import type { Store } from "../runtime/store.ts";
import { session } from "../sessions/session.ts";
import { memory } from "../stores/memory.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, local } from "./local.ts";

const leaseMs = 300;

type Member = { readonly engine: LocalEngine; kill(): void };

/** Two processes on one store. A process that was killed is replaced by a new one. */
function openFleet(store: Store, clock: FakeClock) {
  const model = scriptedModel(({ history }) => {
    const question = history.findLast((entry) => entry.type === "user");
    return { text: `Re: ${question ? toPlainText(question.content) : ""}` };
  });
  const agent = defineAgent({ name: "desk", model });
  const start = (): Member => {
    let isDead = false;
    const methods = Object.entries(store).map(([name, method]) => [
      name,
      (...given: unknown[]) => {
        const isSilent = isDead && name !== "watch" && name !== "publish";
        return isSilent
          ? new Promise(() => undefined)
          : (method as (...values: unknown[]) => unknown)(...given);
      },
    ]);
    const engine = local({ store: Object.fromEntries(methods), agents: agent, leaseMs, clock });
    return {
      engine,
      kill() {
        isDead = true;
      },
    };
  };
  const members = [start(), start()];
  return {
    agent,
    get: (index: number): LocalEngine => (members[index % 2] as Member).engine,
    kill(index: number) {
      members[index % 2]?.kill();
      members[index % 2] = start();
    },
    close: () => Promise.all(members.map(({ engine }) => engine.close())),
  };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant("send" as const), process: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("wait" as const), ticks: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("kill" as const), process: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("lease" as const) }) },
);

it("whatever ends, is killed or arrives when, each acknowledged message is answered once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const clock = fakeClock();
      const store = memory({ clock });
      const fleet = openFleet(store, clock);
      const acknowledged: string[] = [];
      for (const [index, action] of steps.entries()) {
        if (action.type === "wait") for (let tick = 0; tick < action.ticks; tick++) await Promise.resolve();
        else if (action.type === "lease") await clock.advance(2 * leaseMs);
        else if (action.type === "kill") fleet.kill(action.process);
        else {
          const runId = `m${index}`;
          const stored = await fleet
            .get(action.process)
            .enqueue(fleet.agent, runId, { session: "s", runId })
            .then(
              () => true,
              (thrown) => thrown.code !== "queue_full" && Promise.reject(thrown),
            );
          if (stored) acknowledged.push(runId);
        }
      }
      const listEnds = async () => {
        const facts = await session(store, "s").facts();
        return facts.flatMap((fact) => (fact.type === "done" ? [`${fact.runId} ${fact.text}`] : []));
      };
      for (let round = 0; round < 40 && (await listEnds()).length < acknowledged.length; round++)
        await clock.advance(leaseMs);
      expect(await listEnds()).toEqual(acknowledged.map((runId) => `${runId} Re: ${runId}`));
      expect(await store.listRecords("queue")).toEqual([]);
      await fleet.close();
    }),
    { numRuns: 60 },
  );
});
