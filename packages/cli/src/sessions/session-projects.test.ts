import { defineAgent, type RunInfo, run, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { forgetProject, withOwnOrphans, withProject } from "./session-projects.ts";

const sailor = defineAgent({ name: "sailor", model: scriptedModel(() => ({ text: "Aye." })) });
const orphan: RunInfo = {
  ...{ runId: "run_1", sessionId: "ses_1", agent: "sailor" },
  ...{ state: "active", startedAt: 0, updatedAt: 0 },
};

/** A store in which a run of the session was left, whoever began it. */
const withOrphan = (): Store => ({ ...memory(), listOrphans: async () => [orphan] });

const begin = async (store: Store) => {
  await run(sailor, "Ahoy", { store, session: "ses_1" });
};

it("a run belongs to the project that began the newest run of its session", async () => {
  const store = withOrphan();
  await begin(withProject(store, "/ships"));
  expect(await withOwnOrphans(store, { folder: "/ships" }).listOrphans()).toEqual([orphan]);
  expect(await withOwnOrphans(store, { folder: "/boats" }).listOrphans()).toEqual([]);
  await begin(withProject(store, "/boats"));
  expect(await withOwnOrphans(store, { folder: "/ships" }).listOrphans()).toEqual([]);
  expect(await withOwnOrphans(store, { folder: "/boats" }).listOrphans()).toEqual([orphan]);
});

it("a run without a known project may be resumed by any project", async () => {
  const store = withOrphan();
  await begin(store);
  expect(await withOwnOrphans(store, { folder: "/boats" }).listOrphans()).toEqual([orphan]);
  await begin(withProject(store, "/ships"));
  await forgetProject(store, "ses_1");
  expect(await withOwnOrphans(store, { folder: "/boats" }).listOrphans()).toEqual([orphan]);
});

it("a run that receives a message is resumed, whichever project started it", async () => {
  const store: Store = { ...withOrphan(), sendMessage: async () => undefined };
  await begin(withProject(store, "/ships"));
  const boats = withOwnOrphans(store, { folder: "/boats" });
  await boats.sendMessage("run_1", { key: "k", type: "steer", text: "Hurry" });
  expect(await boats.listOrphans()).toEqual([orphan]);
});

it("orphaned runs are reported once, and not at all after a message to them", async () => {
  const heard: string[] = [];
  const onFound = (runs: readonly RunInfo[]) => void heard.push(...runs.map(({ runId }) => runId));
  const store: Store = { ...withOrphan(), sendMessage: async () => undefined };
  const boats = withOwnOrphans(store, { folder: "/boats", onFound });
  await boats.listOrphans();
  await boats.listOrphans();
  expect(heard).toEqual(["run_1"]);
  const meant = withOwnOrphans(store, { folder: "/boats", onFound });
  await meant.sendMessage("run_1", { key: "k", type: "steer", text: "Hurry" });
  await meant.listOrphans();
  expect(heard).toEqual(["run_1"]);
});
