import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, defineAgent, run, type Store } from "capstan";
import { fileLogs } from "capstan/logs/file";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, it, onTestFinished } from "vitest";
import { rememberFolder } from "./session-folders.ts";
import { withProject } from "./session-projects.ts";
import { withSessionCleanup } from "./with-session-cleanup.ts";

const agent = defineAgent({ name: "sailor", model: scriptedModel(() => ({ text: "Aye." })) });

it("a session is removed with its logs, its project and its folder", async () => {
  const directory = mkdtempSync(join(tmpdir(), "capstan-cleanup-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const stored: Store = memory();
  const logs = fileLogs({ directory });
  const store = withSessionCleanup(withProject(stored, "/ships"), logs);
  await run(agent, "Ahoy", { store, session: "ses_1", hooks: { onEvent: logs } });
  await rememberFolder(stored, "ses_1", "/ships");
  await logs.flush();
  expect(readdirSync(directory)).toEqual(["ses_1"]);
  await store.remove("ses_1");
  expect(readdirSync(directory)).toEqual([]);
  for (const kind of ["cli.project", "cli.session"]) expect(await stored.listRecords(kind)).toEqual([]);
});

it("a session whose logs cannot be deleted is kept, so that the deletion can be repeated", async () => {
  const stored: Store = memory();
  await run(agent, "Ahoy", { store: stored, session: "ses_1" });
  const error = new AgentError("store_failed", "The disk is read-only.");
  const store = withSessionCleanup(stored, { remove: () => Promise.reject(error) });
  await expect(store.remove("ses_1")).rejects.toBe(error);
  expect(await stored.getSession("ses_1")).toBeDefined();
});
