// An answer becomes a case of a dataset, and an experiment tells whether the agent still gives it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offline } from "@capstan/offline";
import { createClient } from "capstan/client";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { assertAccessible } from "../../packages/studio/src/testing/accessibility.ts";
import { setupStudio, takePicture } from "../../packages/studio/src/testing/browser.ts";
import { knowledge } from "../knowledge/agent.ts";
import { createLibrary } from "../knowledge/library/library.ts";
import { graph } from "./agent.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-saved-case-"));
afterAll(() => rmSync(folder, { recursive: true }));

const model = offline();
const specialists = await knowledge({ model, library: createLibrary({ indexFolder: false }) });
const explorer = await graph({ model, folder });
// The graph is listed last: nothing but the case names it.
const studio = setupStudio(() => ({ agents: [...specialists, explorer] }));

/** Asks an app, and saves its answer with nothing but the name of a new dataset. */
async function saveAnswer(page: Page, agent: string, input: string, dataset: string): Promise<void> {
  const client = createClient({ baseURL: studio.url });
  const { runId, sessionId } = await client.runs.start({ agent, input });
  await expect.poll(async () => (await client.runs.get(runId)).state).toBe("ended");
  await page.goto(`${studio.url}/sessions/${sessionId}`);
  await page.getByRole("button", { name: "Save to dataset" }).press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Dataset" }).selectOption({ label: "New dataset…" });
  await dialog.getByLabel("Name of the dataset").fill(dataset);
  await dialog.getByRole("button", { name: "Save case" }).press("Enter");
  await page.getByText(`Saved to ${dataset}.`).waitFor();
}

test.each([
  ["graph", "Find all cats and make them blue", "cats"],
  ["knowledge", "How do I validate data with zod?", "zod"],
])("an answer of %s, saved as a case and run again with the defaults, passes", async (agent, question, dataset) => {
  const page = await studio.open("/datasets");
  await saveAnswer(page, agent, question, dataset);
  await page.goto(`${studio.url}/datasets/${dataset}`);
  await page.getByRole("button", { name: question, exact: true }).waitFor();
  await page.getByRole("button", { name: "Run experiment" }).click();
  const dialog = page.getByRole("dialog");
  const start = dialog.getByRole("button", { name: "Start" });
  await expect.poll(() => start.isEnabled()).toBe(true);
  await expect.poll(() => dialog.getByRole("combobox", { name: "Agent" }).inputValue()).toBe(agent);
  await expect.poll(() => dialog.getByRole("combobox", { name: "Tools" }).inputValue()).toBe("recorded");
  await takePicture(page, `saved-case-start-${agent}`);
  await assertAccessible(page, "[role=dialog]");
  await start.click();
  await page.getByRole("button", { name: "Delete experiment" }).waitFor();
  await page.getByRole("heading", { name: "100 % of the attempts passed" }).waitFor();
  await page.getByRole("heading", { level: 3, name: question }).waitFor();
  await takePicture(page, `saved-case-result-${agent}`);
});
