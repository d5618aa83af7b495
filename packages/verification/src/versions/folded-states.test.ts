import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, isRecord } from "capstan";
import {
  apply,
  buildResult,
  createState,
  decide,
  indexAgents,
  type State,
} from "capstan/internal/verification";
import { sqlite } from "capstan/stores/sqlite";
import { expect, it, onTestFinished } from "vitest";
import { createFixtureAgents } from "./fixture-agents.ts";
import { writeSqliteFixture } from "./open-fixture.ts";

type Agents = ReturnType<typeof indexAgents>;

it.each([
  1, 2, 3,
])("after every fact of version %i, decisions and results are the ones they were", async (version) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-states-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "store.db");
  writeSqliteFixture(version, file);
  const store = sqlite(file);
  onTestFinished(() => store.close());
  const [guide, expert] = createFixtureAgents("resume");
  const agents: Agents = new Map<string, Agent>([...indexAgents(guide), ...indexAgents(expert)]);
  const digests: Record<string, string> = {};
  for (const { id } of [...(await store.list())].sort((left, right) => (left.id < right.id ? -1 : 1))) {
    const hash = createHash("sha256");
    const state = createState(id);
    for (const fact of await store.read(id)) {
      apply(state, fact);
      hash.update(JSON.stringify(describeState(agents, state), sortKeys));
    }
    digests[id] = hash.digest("hex").slice(0, 16);
  }
  const text = `${JSON.stringify(digests, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(`fixtures/version-${version}.states.json`);
});

/** Returns what follows from a state, which does not depend on the names and places of its fields. */
function describeState(agents: Agents, state: State): unknown {
  const { run } = state;
  if (!run) return undefined;
  return { decision: attempt(() => decide(agents, state)), result: buildResult(agents, state, run) };
}

/** While effects are in flight, no decision is due, and some rules throw. */
function attempt(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return String(error);
  }
}

function sortKeys(_key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  return isRecord(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
}
