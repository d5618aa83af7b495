// The scenarios of the app in the studio, in a real browser.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOwnData } from "@capstan/server";
import { memory } from "capstan/stores/memory";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeEach, expect, test } from "vitest";
import { setupStudio, takePicture } from "../../packages/studio/src/testing/browser.ts";
import {
  getCards,
  getTranscript,
  retryGesture,
  sendAndWait,
  waitUntilIdle,
} from "../../packages/studio/src/testing/conversation-page.ts";
import { waitMs } from "../../packages/studio/src/testing/launch-browser.ts";
import { offlineWithOverrides } from "../../packages/studio/src/testing/offline-with-overrides.ts";
import { addAndOpen, dropPaths } from "../../packages/studio/src/testing/own-data-page.ts";
import { about, knowledge } from "./agent.ts";
import { createLibrary, type Library } from "./library/library.ts";
import { documentLoader } from "./own-data.ts";

const pollOptions = { timeout: waitMs };

const createSearch = (query: string, limit = 5): ScriptedStep => ({
  calls: [{ name: "search_knowledge_base", input: { query, limit } }],
});
const unsourced = "How do I use zod?";
const unlisted = "What does the payroll agent say about hono?";
const endless = "Can zod validate a zorgulator?";
const stubborn = "Do you know hono by heart?";
const model = offlineWithOverrides({
  [unsourced]: scriptedModel([
    createSearch("parsing data with zod", 1),
    { text: "Call `.parse` with the input [1]. See also [9]." },
  ]),
  [unlisted]: scriptedModel([
    { calls: [{ name: "handoff", input: { agent: "payroll-agent" } }] },
    createSearch("hono", 1),
    { text: "A web framework [1]." },
  ]),
  [endless]: scriptedModel((_, index) => createSearch(`zorgulator ${index}`)),
  [stubborn]: scriptedModel([{ text: "I know." }, { text: "I do know." }]),
});
const library = createLibrary({ indexFolder: false });
/** The first test holds the index until it watches the call, and then until it has seen the progress. */
const [watched, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
const heldLibrary: Library = {
  ...library,
  async open(progress) {
    await watched.promise;
    const index = await library.open(progress);
    await seen.promise;
    return index;
  },
};
function releaseIndex(): void {
  watched.resolve();
  seen.resolve();
}
beforeEach(({ task }) => {
  if (!task.name.startsWith("knowledge scenarios 1 and 6")) releaseIndex();
});
const agents = await knowledge({ model, library: heldLibrary });
const folder = mkdtempSync(join(tmpdir(), "capstan-own-documents-"));
const store = memory();
const data = openOwnData({
  ...{ store, folder: join(folder, "data") },
  loaders: { knowledge: documentLoader({ model }) },
});
afterAll(async () => {
  await data.close();
  rmSync(folder, { recursive: true });
});
// On a busy machine, building the index takes longer than a tool may.
const policy = { toolTimeoutMs: 240_000 };
const studio = setupStudio(() => ({ agents, about: { knowledge: about }, store, data, policy }));
const [validating = "", budget = "", comparing = "", maintaining = ""] = about.suggestions;

const getSource = (page: Page, n: number) =>
  page.getByRole("button", { name: new RegExp(`^Source ${n}:`) }).last();
const readStage = (page: Page) => page.locator("[data-stage]").innerText();
/** The agent name shown above each turn. */
const readSpeakers = (page: Page) =>
  page
    .getByRole("article", { name: /^Message from/ })
    .evaluateAll((turns) => turns.map((turn) => (turn as HTMLElement).innerText.split("\n")[0]));

async function openInspector(page: Page, tab: string): Promise<void> {
  const opener = page.getByRole("button", { name: "Show inspector" });
  if (await opener.isVisible()) await opener.click();
  await page.getByRole("tab", { name: tab }).click();
}

/** Sets the browser's time zone, independent of the server's. */
async function setTimeZone(page: Page, timezoneId: string): Promise<void> {
  const devices = await page.context().newCDPSession(page);
  await devices.send("Emulation.setTimezoneOverride", { timezoneId });
}

test("knowledge scenarios 1 and 6: the first search shows the progress of the index; the number in the answer opens the passage, and each turn has a summary (S3-51, S3-55)", async () => {
  const page = await studio.open("/");
  await page.getByRole("button", { name: validating, exact: true }).click();
  await getCards(page, "running").waitFor();
  watched.resolve();
  await getCards(page, "running")
    .getByText(/Indexing: \d+ of \d+ documents/)
    .waitFor();
  seen.resolve();
  await waitUntilIdle(page);
  await expect
    .poll(() => getCards(page, "ok").getByRole("button").first().innerText(), pollOptions)
    .toContain("search_knowledge_base");
  const words = getCards(page).locator("mark").filter({ hasText: /^zod$/i });
  await words.first().waitFor();

  await getSource(page, 1).focus();
  await page.getByRole("dialog", { name: "Source 1" }).getByText("zod README").waitFor();
  await takePicture(page, "knowledge-preview");
  await getSource(page, 1).click();
  const panel = page.getByRole("dialog", { name: /^1\. zod README/ });
  await expect.poll(() => panel.getByRole("blockquote").innerText(), pollOptions).toMatch(/parse|validat/);
  await takePicture(page, "knowledge-source");
  await page.keyboard.press("Escape");

  await openInspector(page, "Reasoning");
  const turns = page.getByRole("region", { name: "Reasoning" }).locator("ol > li");
  await expect.poll(() => turns.count(), pollOptions).toBe(2);
  for (const turn of await turns.all()) {
    const summary = await turn.locator(".italic").innerText();
    expect(summary).not.toMatch(/cannot help/);
  }
  await takePicture(page, "knowledge-reasoning");
});

test("knowledge scenario 1: a number without a source is removed from the answer and reported (S3-55)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, unsourced);
  await getSource(page, 1).waitFor();
  await expect.poll(() => page.getByRole("button", { name: /^Source/ }).count(), pollOptions).toBe(1);
  await getTranscript(page).getByText("The model cited [9], but no such source exists").waitFor();
  const answer = await page.getByRole("article", { name: "Message from knowledge" }).last().innerText();
  expect(answer).toContain("See also.");
});

test("knowledge scenario 2: a summary of mails takes two searches, cites five, and notes that they are fictional (S3-39)", async () => {
  const page = await studio.open("/", { size: "phone" });
  await sendAndWait(page, budget);
  await expect.poll(() => getCards(page, "ok").count(), pollOptions).toBe(2);
  for (const n of [1, 2, 3, 4, 5])
    await expect.poll(() => getSource(page, n).isVisible(), pollOptions).toBe(true);
  await getCards(page).first().getByText("(The mailbox is fictional.)").first().waitFor();
  await getSource(page, 5).click();
  const panel = page.getByRole("dialog", { name: /^5\. Numbers for the workshop \(.*, fictional\)$/ });
  await panel.getByText("Last year it was 16,000 euros.").waitFor();
  await takePicture(page, "knowledge-mails-phone");
});

test("knowledge scenario 3: a comparison is handed off and returned: each turn names its agent, the specialist has its own lane, and its sources are cited at the end (S3-30, S3-33)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, comparing);
  await expect
    .poll(() => readSpeakers(page), pollOptions)
    .toEqual(["knowledge", "research-agent", "research-agent", "knowledge"]);
  for (const name of [/zod README/, /valibot README/])
    await page.getByRole("article").last().getByRole("button", { name }).first().waitFor();
  // The specialist's answer is read once, where the main agent passes it on.
  await getTranscript(page).getByText("Returned its answer to knowledge").waitFor();
  const [, , specialist = "", answer = ""] = await page.getByRole("article").allInnerTexts();
  expect(specialist).not.toContain(answer.split("\n").findLast((line) => line.length > 40));
  await openInspector(page, "Timeline");
  const lanes = [1, 2, 3, 4].map(async (turn) => {
    const place = await page.getByRole("tabpanel").getByText(`Turn ${turn}`).first().boundingBox();
    return place?.x ?? Number.NaN;
  });
  const [first = 0, second = 0, ...others] = await Promise.all(lanes);
  expect(second).toBeGreaterThan(first);
  expect(others).toEqual([second, first]);
  await takePicture(page, "knowledge-handoff");
});

test("knowledge scenario 4: a handoff to an unlisted agent is visibly denied, and the run still answers (S3-57)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, unlisted);
  await expect
    .poll(() => getCards(page, "denied").getByRole("button").innerText(), pollOptions)
    .toMatch(/^handoff\n.*payroll-agent.*\nDenied$/);
  await getCards(page, "denied").getByRole("button").click();
  await getCards(page, "denied")
    .getByText(/It may hand over to: research-agent, people-agent/)
    .first()
    .waitFor();
  await getTranscript(page).getByText("A web framework").waitFor();
  await takePicture(page, "knowledge-denied");
});

test("knowledge scenario 5: a line reports the limit, and the fallback lists the searches and the gaps (S3-41, S3-61)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, endless);
  await expect.poll(() => readStage(page), pollOptions).toBe("Limit reached");
  await getTranscript(page).getByText("The limit of 10 turns was reached.", { exact: true }).waitFor();
  // Entries far above are rendered a moment later.
  await expect.poll(() => getCards(page, "ok").count()).toBe(11);
  await expect
    .poll(() => getCards(page, "ok").last().getByRole("button").first().innerText(), pollOptions)
    .toMatch(/^fall_back/);
  const answer = await page.getByRole("article").last().innerText();
  expect(answer).toContain('search_knowledge_base: No results for "zorgulator 1".');
  expect(answer).toContain("Closest matches: zod README");
  expect(answer).toContain('Missing: no document contains "zorgulator".');
  await takePicture(page, "knowledge-limit");
});

test("knowledge scenarios 7 and 8: the first turn must call a tool, and the date follows the user's clock; a line reports a model that answers anyway (S3-03, S3-05, S3-64)", async () => {
  const page = await studio.open("/");
  await setTimeZone(page, "Pacific/Kiritimati");
  await sendAndWait(page, maintaining);
  await getTranscript(page).getByText("Yusuke Wada is author").first().waitFor();
  await openInspector(page, "Prompt");
  await page.getByLabel("Turn", { exact: true }).selectOption("1");
  const sent = page.getByRole("region", { name: "Prompt" });
  await sent.getByText(/tools, one required/).waitFor();
  await sent.getByText(/^It is \w+,? \d+ \w+ \d{4} at \d\d:\d\d \(Pacific\/Kiritimati\)\./).waitFor();
  await takePicture(page, "knowledge-prompt");
  await sendAndWait(page, stubborn);
  await getTranscript(page).getByText("The model answered without calling a tool first.").waitFor();
});

test("knowledge scenario 9: an agent called as a tool is shown inside the call, with its own turns (S3-34, S3-58)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, "Ask an agent what hono is");
  const inside = page.getByRole("region", { name: "Nested run of research-agent" });
  await expect.poll(() => inside.locator("[data-call][data-state=ok]").count(), pollOptions).toBe(1);
  await inside
    .getByText(/web framework/)
    .first()
    .waitFor();
  await getSource(page, 1).waitFor();
  await openInspector(page, "Reasoning");
  const titles = page.getByRole("region", { name: "Reasoning" }).getByText(/^Turn \d+ of 10$/);
  await expect.poll(() => titles.allInnerTexts(), pollOptions).toEqual(["Turn 1 of 10", "Turn 2 of 10"]);
  await takePicture(page, "knowledge-nested");
});

test("own documents: a dropped folder is read, a question is answered from it, and the number opens the passage and the PDF at its page", async () => {
  const trip = join(folder, "Trip");
  mkdirSync(join(trip, "Ideas"), { recursive: true });
  writeFileSync(
    join(trip, "Ideas/ferry.md"),
    "# Ferry\n\nThe ferry to Nesodden leaves at nine from pier four.",
  );
  cpSync(join(import.meta.dirname, "fixtures/travel-policy.pdf"), join(trip, "policy.pdf"));
  writeFileSync(join(trip, "photo.png"), "");
  const page = await studio.open("/");
  await dropPaths(page.getByRole("button", { name: /^Knowledge search/ }), [trip]);
  const dialog = page.getByRole("dialog", { name: "Your own data in Knowledge search" });
  await dialog.getByText("2 files (").waitFor();
  await dialog.getByText("1 of other types will not be uploaded (.png)").waitFor();
  await addAndOpen(page, "Trip", "2 documents");

  await sendAndWait(page, "What is the limit for a hotel in Bergen?");
  const panel = page.getByRole("dialog", { name: "1. Travel policy (policy.pdf): Page 2" });
  await retryGesture(
    () => getSource(page, 1).click(),
    () => panel.waitFor({ timeout: 10_000 }),
  );
  await expect.poll(() => panel.getByRole("blockquote").innerText(), pollOptions).toContain("Bergen");
  await takePicture(page, "knowledge-own-source");
  const link = panel.getByRole("link", { name: "Open the document at page 2" });
  const address = "/api/data/knowledge-trip/files/policy.pdf";
  await expect.poll(() => link.getAttribute("href")).toBe(`${address}#page=2`);
  const opened = page.context().waitForEvent("request", (request) => request.url().includes(address));
  await link.click();
  await opened;
  const answer = await page.request.get(new URL(address, studio.url).href);
  expect(answer.headers()["content-type"]).toBe("application/pdf");
  expect(await answer.body()).toEqual(readFileSync(join(trip, "policy.pdf")));
});
