// The scenarios of the app in the studio, in a real browser.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { setupStudio, takePicture } from "../../packages/studio/src/testing/browser.ts";
import {
  getCards,
  getTranscript,
  sendAndWait,
  sendMessage,
  skipMisclickGuard,
  waitForMessage,
  waitUntilIdle,
} from "../../packages/studio/src/testing/conversation-page.ts";
import { waitMs } from "../../packages/studio/src/testing/launch-browser.ts";
import { offlineWithOverrides } from "../../packages/studio/src/testing/offline-with-overrides.ts";
import { about, files } from "./agent.ts";
import { createSlowReader } from "./testing/slow-reader.ts";

const pollOptions = { timeout: waitMs };

const folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(folder, "workspace");
cpSync(join(import.meta.dirname, "sample"), root, { recursive: true });
writeFileSync(join(folder, "secret"), "the canary sings");

const [listPrompt = "", searchPrompt = "", docstringPrompt = "", outsidePrompt = ""] = about.suggestions;
const brokenJsonPrompt = "Read sample.txt, in broken JSON";
const [slowPrompt, endlessPrompt] = ["Read sample.txt, slowly", "Read sample.txt, and never end"];

const gate = Promise.withResolvers<void>();
const model = offlineWithOverrides({
  [brokenJsonPrompt]: scriptedModel([
    { calls: [{ name: "read_file", arguments: '{"path": "sample.txt' }] },
    { calls: [{ name: "read_file", input: { path: "sample.txt" } }] },
    { text: "It welcomes you." },
  ]),
  [slowPrompt]: createSlowReader(gate.promise),
  [endlessPrompt]: createSlowReader(new Promise(() => undefined)),
});
const agent = await files({ model, root, undoFolder: join(folder, "undo"), studio: true });
const studio = setupStudio(() => ({ agents: [agent], about: { files: about } }));

const readCardNames = (page: Page, state: string) =>
  getCards(page, state)
    .getByRole("button", { expanded: false })
    .allInnerTexts()
    .then((lines) => lines.map((line) => line.split("\n")[0]));
const readAnswer = (page: Page) =>
  page.getByRole("article", { name: "Message from files" }).last().innerText();
const readExample = () => readFileSync(join(root, "example.py"), "utf8");

test("files scenario 1: one response makes two calls, both cards are done, and the answer uses their results (S1-08, S1-33)", async () => {
  const page = await studio.open("/");
  await page.getByRole("button", { name: listPrompt, exact: true }).click();
  await getTranscript(page).getByText("Welcome to the sample workspace.").waitFor();
  await waitUntilIdle(page);
  await expect.poll(() => readCardNames(page, "ok"), pollOptions).toEqual(["list_files", "read_file"]);
  await expect.poll(() => getCards(page).count(), pollOptions).toBe(2);
  const text = await readAnswer(page);
  for (const entry of ["data/", "example.py", "sample.txt"]) expect(text).toContain(entry);
  await getCards(page).first().getByRole("button", { name: "list_files" }).click();
  await getCards(page).first().getByText("Arguments").waitFor();
  await takePicture(page, "files-two-calls");
});

test("files scenario 2: a search shows path, line and text of each match (S1-23)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, searchPrompt);
  await expect.poll(() => readCardNames(page, "ok"), pollOptions).toEqual(["search_files"]);
  const text = await readAnswer(page);
  for (const place of ["example.py:4:", "example.py:11:", "sample.txt:4:"]) expect(text).toContain(place);
  await takePicture(page, "files-search");
});

describe("files scenario 3: a docstring for greet", () => {
  async function requestDocstring(page: Page) {
    await sendMessage(page, docstringPrompt);
    const card = page.getByRole("region", { name: "Approval for edit_file" });
    await card
      .getByText('Changes the file "example.py": files are changed only with your approval.')
      .waitFor();
    await card.getByRole("table").getByText('"""').waitFor();
    await expect.poll(() => card.locator("[data-warning]").count()).toBe(0); // the user asked for it, in a file of their own
    await skipMisclickGuard(page);
    return card;
  }

  test("when denied, the agent learns why and the file is unchanged (S1-23)", async () => {
    const page = await studio.open("/", { size: "phone" });
    const old = readExample();
    const card = await requestDocstring(page);
    await takePicture(page, "files-approval-phone");
    await card.getByRole("button", { name: "Add a reason" }).click();
    await card.getByLabel("Reason for denial").fill("I will write it myself.");
    await card.getByRole("button", { name: "Deny" }).click();
    await waitUntilIdle(page);
    await expect.poll(() => readCardNames(page, "denied"), pollOptions).toEqual(["edit_file"]);
    await expect.poll(() => readAnswer(page), pollOptions).toContain("I will write it myself.");
    await takePicture(page, "files-denied-phone");
    expect(readExample()).toBe(old);
  });

  test("is shown as a diff before it is written; once approved, it is on disk (S1-23, S1-33)", async () => {
    const page = await studio.open("/");
    const old = readExample();
    const card = await requestDocstring(page);
    await card.getByRole("button", { name: "Always allow" }).waitFor();
    await page.locator("[data-stage]").getByText("Waiting for you").waitFor();
    await expect.poll(() => readCardNames(page, "asking"), pollOptions).toEqual(["edit_file"]);
    expect(readExample()).toBe(old);
    await takePicture(page, "files-approval");
    await card.getByRole("button", { name: "Allow", exact: true }).click();
    await waitUntilIdle(page);
    await expect.poll(() => readCardNames(page, "ok"), pollOptions).toEqual(["read_file", "edit_file"]);
    const diff = getCards(page, "ok").last().getByRole("figure", { name: "example.py" });
    await diff.getByText("+1 −0").waitFor();
    const [added = ""] = await diff.getByRole("row").filter({ hasText: "Added:" }).allInnerTexts();
    expect(added).toContain('"""');
    expect(readExample()).toMatch(/def greet\(name\):\n {4}""".+"""\n {4}config/);
    await takePicture(page, "files-diff");
  });
});

test("files scenario 4: a path outside the workspace fails visibly, the answer explains why, and the file is not exposed (S1-33)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, outsidePrompt);
  await expect.poll(() => readCardNames(page, "error"), pollOptions).toEqual(["read_file"]);
  await expect.poll(() => readAnswer(page), pollOptions).toContain("is outside the root");
  await getCards(page, "error").getByRole("button").first().click();
  await takePicture(page, "files-outside");
  expect(await page.content()).not.toContain("canary");
});

test("files scenario 5: invalid JSON arguments give a failed card, then a successful one; no card hangs (S1-28)", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, brokenJsonPrompt);
  await getTranscript(page).getByText("It welcomes you.").waitFor();
  await expect
    .poll(
      () => getCards(page).evaluateAll((all) => all.map((card) => card.getAttribute("data-state"))),
      pollOptions,
    )
    .toEqual(["error", "ok"]);
  await takePicture(page, "files-broken-json");
});

/** A TCP proxy to the studio that can be disconnected. */
async function openProxy() {
  const sockets = new Set<Socket>();
  const line = createServer((near) => {
    const far = connect(Number(new URL(studio.url).port), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket.on("error", () => undefined).on("close", () => far.destroy() && near.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  const listen = (port: number) => new Promise<void>((resolve) => line.listen(port, "127.0.0.1", resolve));
  const cut = () => {
    line.close();
    for (const socket of sockets) socket.destroy();
  };
  await listen(0);
  const { port } = line.address() as AddressInfo;
  onTestFinished(cut);
  return { url: `http://127.0.0.1:${port}`, cut, listen: () => listen(port) };
}

describe("files scenario 6: a connection lost mid-run", () => {
  const expects = [/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_NETWORK/];

  /** Sends the question and disconnects as soon as the first call is done. */
  async function askAndDisconnect(question: string) {
    const line = await openProxy();
    const page = await studio.open("/", { url: line.url, expects });
    await sendMessage(page, question);
    await waitForMessage(page, question);
    await getCards(page, "ok").waitFor();
    line.cut();
    await page.getByText("Connection lost.").waitFor();
    return { page, line };
  }

  test("reconnects by itself, and nothing is lost or shown twice (S1-34)", async () => {
    const { page, line } = await askAndDisconnect(slowPrompt);
    await takePicture(page, "files-lost");
    gate.resolve();
    await line.listen();
    await getTranscript(page).getByText("It welcomes you.").waitFor();
    await waitUntilIdle(page);
    await expect.poll(() => readCardNames(page, "ok"), pollOptions).toEqual(["list_files", "read_file"]);
    await expect.poll(() => page.getByRole("article", { name: "Your message" }).count(), pollOptions).toBe(1);
    await expect.poll(() => getTranscript(page).getByText("It welcomes you.").count(), pollOptions).toBe(1);
    await page.getByText("Connection lost.").waitFor({ state: "detached" });
  });

  test("can be stopped after reconnecting", async () => {
    const { page, line } = await askAndDisconnect(endlessPrompt);
    await line.listen();
    await page.getByText("Connection lost.").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop" }).click();
    await getTranscript(page).getByText("Stopped.").waitFor();
    await waitUntilIdle(page);
    await expect.poll(() => readCardNames(page, "ok"), pollOptions).toEqual(["list_files"]);
  });
});
