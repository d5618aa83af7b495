// The scenarios of the app as a person sees them: in the studio, in a real browser.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { picture, studioFor } from "../../packages/studio/src/testing/browser.ts";
import {
  ask,
  cards,
  heard,
  rest,
  say,
  settle,
  transcript,
} from "../../packages/studio/src/testing/conversation-page.ts";
import { offlineExcept } from "../../packages/studio/src/testing/offline-except.ts";
import { about, files } from "./agent.ts";
import { slowReader } from "./testing/slow-reader.ts";

const patience = { timeout: 30_000 };

const folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(folder, "workspace");
cpSync(join(import.meta.dirname, "sample"), root, { recursive: true });
writeFileSync(join(folder, "secret"), "the canary sings");

const [listing = "", searching = "", documenting = "", leaving = ""] = about.suggestions;
const broken = "Read sample.txt, in broken JSON";
const [finished, stopped] = ["Read sample.txt, slowly", "Read sample.txt, and never end"];

const gate = Promise.withResolvers<void>();
const model = offlineExcept({
  [broken]: scriptedModel([
    { calls: [{ name: "read_file", arguments: '{"path": "sample.txt' }] },
    { calls: [{ name: "read_file", input: { path: "sample.txt" } }] },
    { text: "It welcomes you." },
  ]),
  [finished]: slowReader(gate.promise),
  [stopped]: slowReader(new Promise(() => undefined)),
});
const agent = await files({ model, root, studio: true });
const studio = studioFor(() => ({ agents: [agent], about: { files: about } }));

const names = (page: Page, state: string) =>
  cards(page, state)
    .getByRole("button", { expanded: false })
    .allInnerTexts()
    .then((lines) => lines.map((line) => line.split("\n")[0]));
const answer = (page: Page) => page.getByRole("article", { name: "files says" }).last().innerText();
const inExample = () => readFileSync(join(root, "example.py"), "utf8");

test("files scenario 1: one answer makes two calls, both cards are done, and the answer has what they gave (S1-08, S1-33)", async () => {
  const page = await studio.open("/");
  await page.getByRole("button", { name: listing, exact: true }).click();
  await transcript(page).getByText("Welcome to the sample workspace.").waitFor();
  await rest(page);
  await expect.poll(() => names(page, "ok"), patience).toEqual(["list_files", "read_file"]);
  await expect.poll(() => cards(page).count(), patience).toBe(2);
  const text = await answer(page);
  for (const entry of ["data/", "example.py", "sample.txt"]) expect(text).toContain(entry);
  await cards(page).first().getByRole("button", { name: "list_files" }).click();
  await cards(page).first().getByText("Arguments").waitFor();
  await picture(page, "files-two-calls");
});

test("files scenario 2: a search shows path, line and text of each place (S1-23)", async () => {
  const page = await studio.open("/");
  await ask(page, searching);
  await expect.poll(() => names(page, "ok"), patience).toEqual(["search_files"]);
  const text = await answer(page);
  for (const place of ["example.py:4:", "example.py:11:", "sample.txt:4:"]) expect(text).toContain(place);
  await picture(page, "files-search");
});

describe("files scenario 3: a docstring for greet", () => {
  async function asked(page: Page) {
    await say(page, documenting);
    const card = page.getByRole("region", { name: "Approval for edit_file" });
    await card.getByText('Changes the file "example.py".').waitFor();
    await card.getByRole("table").getByText('"""').waitFor();
    await settle(page);
    return card;
  }

  test("denied, the agent is told why, and the file is as it was (S1-23)", async () => {
    const page = await studio.open("/", { size: "phone" });
    const old = inExample();
    const card = await asked(page);
    await picture(page, "files-approval-phone");
    await card.getByRole("button", { name: "Add a note" }).click();
    await card.getByLabel("Why it is denied").fill("I will write it myself.");
    await card.getByRole("button", { name: "Deny" }).click();
    await rest(page);
    await expect.poll(() => names(page, "denied"), patience).toEqual(["edit_file"]);
    await expect.poll(() => answer(page), patience).toContain("I will write it myself.");
    await picture(page, "files-denied-phone");
    expect(inExample()).toBe(old);
  });

  test("is shown as a diff before it is written; agreed to, it is on disk (S1-23, S1-33)", async () => {
    const page = await studio.open("/");
    const old = inExample();
    const card = await asked(page);
    await page.locator("[data-stage]").getByText("Waiting for you").waitFor();
    await expect.poll(() => names(page, "asking"), patience).toEqual(["edit_file"]);
    expect(inExample()).toBe(old);
    await picture(page, "files-approval");
    await card.getByRole("button", { name: "Allow", exact: true }).click();
    await rest(page);
    await expect.poll(() => names(page, "ok"), patience).toEqual(["read_file", "edit_file"]);
    const diff = cards(page, "ok").last().getByRole("figure", { name: "example.py" });
    await diff.getByText("+1 −0").waitFor();
    const [added = ""] = await diff.getByRole("row").filter({ hasText: "Added:" }).allInnerTexts();
    expect(added).toContain('"""');
    expect(inExample()).toMatch(/def greet\(name\):\n {4}""".+"""\n {4}config/);
    await picture(page, "files-diff");
  });
});

test("files scenario 4: a path that leads out fails in sight, the answer says why, and nothing of the file is shown (S1-33)", async () => {
  const page = await studio.open("/");
  await ask(page, leaving);
  await expect.poll(() => names(page, "error"), patience).toEqual(["read_file"]);
  await expect.poll(() => answer(page), patience).toContain("leads out of the root");
  await cards(page, "error").getByRole("button").first().click();
  await picture(page, "files-outside");
  expect(await page.content()).not.toContain("canary");
});

test("files scenario 5: arguments that are no JSON make a failed card and then a good one; none hangs (S1-28)", async () => {
  const page = await studio.open("/");
  await ask(page, broken);
  await transcript(page).getByText("It welcomes you.").waitFor();
  await expect
    .poll(
      () => cards(page).evaluateAll((all) => all.map((card) => card.getAttribute("data-state"))),
      patience,
    )
    .toEqual(["error", "ok"]);
  await picture(page, "files-broken-json");
});

/** A line to the studio that can be cut. */
async function lineToStudio() {
  const sockets = new Set<Socket>();
  const line = createServer((near) => {
    const far = connect(Number(new URL(studio.url).port), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket.on("error", () => undefined).on("close", () => far.destroy() && near.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  const mend = (port: number) => new Promise<void>((resolve) => line.listen(port, "127.0.0.1", resolve));
  const cut = () => {
    line.close();
    for (const socket of sockets) socket.destroy();
  };
  await mend(0);
  const { port } = line.address() as AddressInfo;
  onTestFinished(cut);
  return { url: `http://127.0.0.1:${port}`, cut, mend: () => mend(port) };
}

describe("files scenario 6: a connection that is lost in mid-run", () => {
  const expects = [/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_NETWORK/];

  /** Asks, and cuts the line as soon as the first call is done. */
  async function cutOff(question: string) {
    const line = await lineToStudio();
    const page = await studio.open("/", { url: line.url, expects });
    await say(page, question);
    await heard(page, question);
    await cards(page, "ok").waitFor();
    line.cut();
    await page.getByText("Connection lost.").waitFor();
    return { page, line };
  }

  test("comes back by itself, and nothing is lost or shown twice (S1-34)", async () => {
    const { page, line } = await cutOff(finished);
    await picture(page, "files-lost");
    gate.resolve();
    await line.mend();
    await transcript(page).getByText("It welcomes you.").waitFor();
    await rest(page);
    await expect.poll(() => names(page, "ok"), patience).toEqual(["list_files", "read_file"]);
    await expect.poll(() => page.getByRole("article", { name: "You say" }).count(), patience).toBe(1);
    await expect.poll(() => transcript(page).getByText("It welcomes you.").count(), patience).toBe(1);
    await page.getByText("Connection lost.").waitFor({ state: "detached" });
  });

  test("can be stopped when it is back", async () => {
    const { page, line } = await cutOff(stopped);
    await line.mend();
    await page.getByText("Connection lost.").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop" }).click();
    await transcript(page).getByText("Stopped.").waitFor();
    await rest(page);
    await expect.poll(() => names(page, "ok"), patience).toEqual(["list_files"]);
  });
});
