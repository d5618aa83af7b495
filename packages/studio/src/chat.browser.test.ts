import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { agentProfiles, createChatAgents } from "./testing/chat-agents.ts";
import { skipMisclickGuard, stopClock, waitUntilStill } from "./testing/conversation-page.ts";
import { createFlakyAgent } from "./testing/flaky-agent.ts";
import { spawnServer } from "./testing/spawn-server.ts";
import { createViewAgent } from "./testing/view-agent.ts";

const clerk = defineAgent({ name: "clerk", model: scriptedModel([{ text: "Filed." }]) });
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const silence = Buffer.concat([
  Buffer.from(
    "RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0data\x08\0\0\0",
    "latin1",
  ),
  Buffer.alloc(8),
]).toString("base64");
const painter = defineAgent({
  name: "painter",
  model: scriptedModel([
    {
      text: "Here it is.",
      media: [
        { mediaType: "image/png", data: dot },
        { mediaType: "audio/wav", data: silence },
      ],
    },
  ]),
});
const store = memory();
const studio = setupStudio(() => ({
  store,
  agents: [...createChatAgents(), createViewAgent(), clerk, painter, createFlakyAgent()],
  about: { ...agentProfiles, explorer: { title: "Explorer", suggestions: ["Where is gate 15?"] } },
}));

const prompt = (page: Page) => page.locator("[data-prompt]");

async function say(page: Page, text: string): Promise<void> {
  await prompt(page).fill(text);
  await prompt(page).press("Enter");
}

const transcript = (page: Page) => page.getByRole("region", { name: "Conversation" });
const getAnswers = (page: Page) => page.getByRole("article", { name: "Message from guide" });
const getUserMessages = (page: Page) => page.getByRole("article", { name: "Your message" });
const isAtRest = (page: Page) => page.getByRole("button", { name: "Send" }).waitFor();

describe.each([
  { size: "desktop", theme: "light" },
  { size: "desktop", theme: "dark" },
  { size: "phone", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("at $size size and $theme", ({ size, theme }) => {
  test("a first question starts a session; tools show results, sources open, an approval shows its effect", async () => {
    const page = await studio.open("/", { size, theme });
    const suggestion = page.getByRole("button", { name: "Look up how to begin", exact: true });
    await suggestion.waitFor();
    await takePicture(page, `new-${size}-${theme}`);
    await suggestion.click();
    await page.waitForURL(/\/sessions\//);
    await transcript(page).getByText("The guide names two ways").waitFor();
    await isAtRest(page);
    await expect.poll(() => page.locator("[data-call][data-state=ok]").count()).toBe(2);
    await takePicture(page, `tools-${size}-${theme}`);
    await page.getByRole("button", { name: /^search_guide/ }).click();
    await transcript(page).getByText('"query": "ways to begin"').waitFor();
    await takePicture(page, `tool-open-${size}-${theme}`);
    await page.getByRole("button", { name: /^Source 1/ }).click();
    await page.getByRole("dialog").getByText("There are two ways to begin.").waitFor();
    await takePicture(page, `source-${size}-${theme}`);
    await page.keyboard.press("Escape");
    // It gives the focus back when it is gone.
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).waitFor({ state: "detached" });
    await say(page, "Save a better greeting");
    const card = page.locator("[data-approval]");
    await card.getByText("Changes notes.md.").waitFor();
    await skipMisclickGuard(page);
    await takePicture(page, `approval-${size}-${theme}`);
    await card.getByRole("button", { name: "Allow", exact: true }).click();
    await transcript(page).getByText("The greeting is changed.").waitFor();
    await isAtRest(page);
    await takePicture(page, `approved-${size}-${theme}`);
  });
});

describe.each([
  { size: "desktop", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("when the model provider fails, at $size size and $theme", ({ size, theme }) => {
  test("the user sees the reason and retries with the keyboard; an outage counts down and can be cancelled", async () => {
    const page = await studio.open("/", { size, theme });
    await page.getByLabel("Agent", { exact: true }).selectOption("flaky");
    await say(page, "Fail");
    const alert = page.getByRole("alert").filter({ hasText: "The provider rejected the API key." });
    await alert.getByText("model_auth: The provider answered 401: the key has expired.").waitFor();
    await takePicture(page, `failed-${size}-${theme}`);
    await alert.getByRole("button", { name: "Retry" }).press("Enter");
    await transcript(page).getByText("It works again.").waitFor();
    await transcript(page).getByText("Retried after a failure: The provider answered 401").waitFor();
    await isAtRest(page);
    await takePicture(page, `retried-${size}-${theme}`);
    await say(page, "Wait");
    const outage = page.getByRole("region", { name: "Model provider" });
    await outage.getByText(/^Next attempt \(2\) at \d\d:\d\d:\d\d, in (5\d|60) min/).waitFor();
    const announced = page
      .locator("[aria-live=polite]")
      .filter({ hasText: "The model provider is overloaded." });
    await expect.poll(() => announced.innerText()).toMatch(/Next attempt at \d\d:\d\d:\d\d\.$/);
    await takePicture(page, `outage-${size}-${theme}`);
    await outage.getByRole("button", { name: "Cancel" }).press("Enter");
    await transcript(page).getByText("Stopped.").waitFor();
    await expect.poll(() => outage.count()).toBe(0);
  });
});

test("apps are listed and answer when chosen; agents without a profile are only in the agent list", async () => {
  const page = await studio.open("/");
  const apps = page.getByRole("navigation", { name: "Apps" });
  await apps.getByRole("link", { name: "Explorer" }).click();
  const cards = page.getByRole("region", { name: "Agents" });
  await cards.getByRole("button", { name: "Explorer", pressed: true }).waitFor();
  await expect.poll(() => apps.getByRole("link").allInnerTexts()).toEqual(["Guide", "Broken", "Explorer"]);
  await expect.poll(() => cards.getByText("clerk").count()).toBe(0);
  await expect.poll(() => page.getByLabel("Agent", { exact: true }).inputValue()).toBe("explorer");
  await page.getByLabel("Agent", { exact: true }).selectOption("clerk");
  await say(page, "File this");
  await transcript(page).getByText("Filed.").waitFor();
});

describe("the side panel", () => {
  const panel = (page: Page) => page.getByRole("complementary", { name: "Inspector" });
  const figures = (page: Page) => transcript(page).getByRole("figure");
  const replies = (page: Page) => page.getByRole("group", { name: "Replies" }).getByRole("button");

  test("a map opens and is drawn once; replies send their label, and the next map replaces it", async () => {
    const page = await studio.open("/?agent=explorer");
    await say(page, "Where is gate 15?");
    await transcript(page).getByText("Which one?").waitFor();
    await panel(page).getByRole("figure", { name: "Concourses" }).waitFor();
    await transcript(page).getByText(", shown in panel").waitFor();
    expect([await figures(page).count(), await replies(page).allInnerTexts()]).toEqual([0, ["A15", "D15"]]);
    await takePicture(page, "view-map");
    await replies(page).last().press("Enter");
    await transcript(page).getByText("Gate D15 is 40 m away.").waitFor();
    await expect.poll(() => getUserMessages(page).last().innerText()).toContain("D15");
    await expect.poll(() => replies(page).count()).toBe(0);
    const places = panel(page).getByRole("button", { name: /^[AD]15$/ });
    await expect.poll(() => places.allInnerTexts()).toEqual(["D15"]);
    await transcript(page).getByRole("button", { name: "Show in panel" }).click();
    await expect.poll(() => places.allInnerTexts()).toEqual(["A15", "D15"]);
    await page.goto(`${page.url()}/replay`);
    const view = page.getByRole("region", { name: "View" });
    await view.getByRole("button", { name: "D15" }).waitFor();
    await expect.poll(() => view.getByRole("button", { name: "A15" }).count()).toBe(0);
    for (let step = 0; step < 3; step++) await page.keyboard.press("Shift+ArrowLeft");
    await view.getByRole("button", { name: "A15" }).waitFor();
    await expect.poll(() => page.getByRole("group", { name: "Replies" }).count()).toBe(0);
    await page.keyboard.press("Home");
    await view.waitFor({ state: "detached" });
  });

  test("a graph updates in place and shows its changes; when closed, it stays in the conversation (S2-15)", async () => {
    const page = await studio.open("/?agent=explorer");
    await say(page, "Make them #0000ff");
    await transcript(page).locator("[data-affected]").getByText("2 nodes changed").waitFor();
    const drawing = page.locator("svg:has([data-nodes])");
    await drawing.waitFor({ state: "attached" });
    await drawing.evaluate((svg) => svg.setAttribute("data-mark", ""));
    await say(page, "Make them #ff0000");
    await panel(page).getByText("5 nodes, 4 edges, 2 changed").waitFor();
    expect([await drawing.count(), await page.locator("svg[data-mark]").count()]).toEqual([1, 1]);
    await takePicture(page, "view-graph");
    const shown = transcript(page).getByText(", shown in panel");
    await panel(page).getByRole("tab", { name: "Timeline" }).click();
    await shown.waitFor({ state: "detached" });
    await panel(page).getByRole("tab", { name: "View" }).click();
    await shown.waitFor();
    await panel(page).getByRole("button", { name: "Close view" }).click();
    await figures(page).first().waitFor();
    await page.reload();
    await figures(page).first().waitFor();
    await expect.poll(() => panel(page).count()).toBe(0);
    await page.getByRole("button", { name: "Show in panel" }).last().click();
    await panel(page).getByRole("figure", { name: "Pets" }).waitFor();
    await expect.poll(() => figures(page).count()).toBe(0);
    await page.setViewportSize({ width: 800, height: 800 });
    await expect.poll(() => figures(page).count()).toBe(2);
    await expect.poll(() => panel(page).count()).toBe(0);
  });

  test("Esc stops a running tool, and the badge shows it (S2-18)", async () => {
    const page = await studio.open("/?agent=explorer");
    await say(page, "Wait");
    await page.locator("[data-stage=executing]").getByText("Working…").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("[data-stage=complete]").getByText("Stopped").waitFor();
  });
});

test("a denied call sends its reason to the agent and changes nothing", async () => {
  const page = await studio.open("/");
  const card = page.locator("[data-approval]");
  await say(page, "Save it");
  await card.waitFor();
  await skipMisclickGuard(page);
  await card.getByRole("button", { name: "Add a reason" }).click();
  await card.getByLabel("Reason for denial").fill("Leave it.");
  await skipMisclickGuard(page); // the note has moved the buttons
  await card.getByRole("button", { name: "Deny" }).click();
  await transcript(page).getByText("I have left it as it was.").waitFor();
  await expect.poll(() => page.locator("[data-call][data-state=denied]").count()).toBe(1);
});

test("a click at the moment an approval appears decides nothing (A97)", async () => {
  const page = await studio.open("/");
  await stopClock(page);
  await say(page, "Save a better greeting");
  const allow = page.getByRole("button", { name: "Allow", exact: true });
  await allow.click();
  await page.waitForTimeout(300);
  await expect.poll(() => allow.isEnabled()).toBe(true);
  await skipMisclickGuard(page);
  await allow.click();
  await transcript(page).getByText("The greeting is changed.").waitFor();
});

test("a call that is always allowed is not asked about again until that is revoked", async () => {
  const page = await studio.open("/");
  await say(page, "Save one");
  await page.locator("[data-approval]").waitFor();
  await skipMisclickGuard(page);
  await page.getByRole("button", { name: "Always allow" }).click();
  await transcript(page).getByText("The greeting is changed.").waitFor();
  await isAtRest(page);
  await say(page, "Save two");
  await expect.poll(() => transcript(page).getByText("The greeting is changed.").count()).toBe(2);
  await isAtRest(page);
  await page.getByRole("button", { name: "Require approval again for edit_note" }).click();
  await say(page, "Save three");
  await page.locator("[data-approval]").waitFor();
});

test("a tool's question is a form built from its schema", async () => {
  const page = await studio.open("/");
  await say(page, "Book a table");
  const form = page.locator("[data-question]");
  await form.getByLabel("Guests").fill("4");
  await form.getByLabel("Time").selectOption({ label: "20:00" });
  await form.getByLabel("Outside").check();
  await skipMisclickGuard(page);
  await takePicture(page, "question");
  await form.getByRole("button", { name: "Answer" }).click();
  await transcript(page).getByText('{"guests":4,"time":"20:00","outside":true}').waitFor();
});

test("a nested run is shown below its call", async () => {
  const page = await studio.open("/");
  await say(page, "Delegate it");
  await transcript(page).getByText("The researcher has found it.").waitFor();
  const inside = page.getByRole("region", { name: "Nested run of researcher" });
  await inside.getByText("Two ways are in the guide.").waitFor();
  await expect.poll(() => inside.locator("[data-call][data-state=ok]").count()).toBe(1);
  await takePicture(page, "nested");
});

test("stopping keeps the output, by button and by Esc", async () => {
  const page = await studio.open("/");
  for (const stop of [
    () => page.getByRole("button", { name: "Stop" }).click(),
    () => page.keyboard.press("Escape"),
  ]) {
    await say(page, "Count");
    await page.locator("[data-live]").getByText("word12").waitFor();
    await stop();
    await isAtRest(page);
    await expect.poll(() => getAnswers(page).last().innerText()).toContain("word12");
    await expect.poll(() => transcript(page).innerText()).not.toContain("word5000");
    await expect.poll(() => transcript(page).innerText()).toMatch(/Stopped\./);
  }
  await takePicture(page, "stopped");
});

test("a message sent during a run is shown as queued, and becomes the next run", async () => {
  const page = await studio.open("/");
  await say(page, "Walk");
  await page.locator("[data-call][data-state=running]").waitFor();
  await say(page, "Second words");
  await transcript(page).getByText("Queued").waitFor();
  await transcript(page).getByText("On the way I heard: nothing.").waitFor();
  await transcript(page).getByText("You said: Second words").waitFor();
  await isAtRest(page);
  await expect.poll(() => transcript(page).getByText("Queued").count()).toBe(0);
  await expect.poll(() => getUserMessages(page).count()).toBe(2);
});

test("an edit starts a branch, keeps the old one, and both can be switched", async () => {
  const page = await studio.open("/");
  await say(page, "First words");
  await transcript(page).getByText("You said: First words").waitFor();
  await isAtRest(page);
  await say(page, "Second words");
  await transcript(page).getByText("You said: Second words").waitFor();
  await isAtRest(page);
  const old = page.url();
  await prompt(page).press("ArrowUp");
  await page.getByLabel("Edit your message").fill("Other words");
  await page.keyboard.press("Enter");
  await transcript(page).getByText("You said: Other words").waitFor();
  expect(page.url()).not.toBe(old);
  await expect.poll(() => transcript(page).innerText()).not.toContain("Second words");
  await transcript(page).getByText("You said: First words").waitFor();
  await transcript(page).getByText("2/2").waitFor();
  await takePicture(page, "branch");
  await page.getByRole("button", { name: "Previous branch" }).click();
  await transcript(page).getByText("You said: Second words").waitFor();
  await transcript(page).getByText("1/2").waitFor();
  expect(page.url()).toBe(old);
});

test("regenerating does not repeat the question, also for the first one", async () => {
  const page = await studio.open("/");
  await say(page, "Only words");
  await isAtRest(page);
  await page.getByRole("button", { name: "Regenerate" }).click();
  await transcript(page).getByText("2/2").waitFor();
  await isAtRest(page);
  await expect.poll(() => getUserMessages(page).count()).toBe(1);
  await expect.poll(() => getAnswers(page).count()).toBe(1);
});

test("attachments are previewed, and files that are too large or unsupported are refused", async () => {
  const page = await studio.open("/");
  const png = Buffer.from(dot, "base64");
  await page.locator("input[type=file]").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: png },
    { name: "report.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7") },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("line of notes") },
    { name: "tool.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2, 255]) },
    { name: "huge.txt", mimeType: "text/plain", buffer: Buffer.alloc(600_000, 97) },
  ]);
  await page.getByText("“tool.bin” is not an image, PDF, audio, video or text file.").waitFor();
  await page.getByText("“huge.txt” is too large").waitFor();
  await expect.poll(() => page.getByRole("list", { name: "Attached" }).getByRole("listitem").count()).toBe(3);
  await prompt(page).fill("What is this?");
  await takePicture(page, "attachments");
  await prompt(page).press("Enter");
  await transcript(page)
    .getByText(/You said: What is this\? \[image image\/png\] \[file application\/pdf\][\s\S]*line of notes/)
    .waitFor();
  await expect.poll(() => getUserMessages(page).getByRole("img", { name: "Attached" }).count()).toBe(1);
});

test("a generated image is shown, audio can be played, and both can be downloaded", async () => {
  const page = await studio.open("/?agent=painter");
  await say(page, "Draw");
  const image = transcript(page).getByRole("img", { name: "Image 1 of 2, generated by the model" });
  await image.waitFor();
  await expect.poll(() => image.evaluate((node) => (node as HTMLImageElement).naturalWidth)).toBe(1);
  const audio = transcript(page).getByLabel("Audio 2 of 2");
  await audio.evaluate((node) => (node as HTMLAudioElement).load());
  await expect.poll(() => audio.evaluate((node) => (node as HTMLAudioElement).networkState)).toBeLessThan(3);
  await expect
    .poll(() =>
      transcript(page)
        .getByRole("link", { name: /^Image 1 of 2, image\/png/ })
        .count(),
    )
    .toBe(1);
  await takePicture(page, "generated-media");
});

test("a failed run shows a message with its reason and can be retried", async () => {
  const page = await studio.open("/");
  await page.getByRole("button", { name: /^Broken/ }).click();
  await say(page, "Try");
  await page.getByRole("alert").getByRole("button", { name: "Retry" }).waitFor();
  await takePicture(page, "failed");
});

test("a reload during streaming shows the same output once, stop still works, and a second tab follows", async () => {
  const page = await studio.open("/");
  await say(page, "Count");
  await page.locator("[data-live]").getByText("word20").waitFor();
  const second = await studio.open(new URL(page.url()).pathname, { beside: page });
  await page.reload();
  await page.locator("[data-live]").getByText("word60").waitFor();
  await second.locator("[data-live]").getByText("word60").waitFor();
  const text = await transcript(page).innerText();
  expect(text.match(/\bword5\b/g)).toHaveLength(1);
  await expect.poll(() => getUserMessages(page).count()).toBe(1);
  await page.getByRole("button", { name: "Stop" }).click();
  await Promise.all([isAtRest(page), isAtRest(second)]);
  const [one, two] = [await getAnswers(page).innerText(), await getAnswers(second).innerText()];
  expect(one).toBe(two);
  expect(one.match(/\bword5\b/g)).toHaveLength(1);
});

test("the conversation follows its end only while the user is there", async () => {
  const page = await studio.open("/");
  await say(page, "Count");
  await page.locator("[data-live]").getByText("word20").waitFor();
  const place = () =>
    transcript(page).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await page.setViewportSize({ width: 700, height: 420 });
  await page.locator("[data-live]").getByText("word150").waitFor();
  await expect.poll(place).toBeLessThan(48);
  await transcript(page).hover();
  await page.mouse.wheel(0, -200);
  const jump = page.getByRole("button", { name: "Jump to latest" });
  await jump.waitFor();
  await waitUntilStill(page);
  const top = await transcript(page).evaluate((element) => element.scrollTop);
  await page.waitForTimeout(400);
  expect(await transcript(page).evaluate((element) => element.scrollTop)).toBe(top);
  await jump.click();
  await expect.poll(place).toBeLessThan(48);
  await jump.waitFor({ state: "detached" });
});

test("a draft survives a reload", async () => {
  const page = await studio.open("/");
  await prompt(page).fill("Half a thought");
  await page.reload();
  await expect.poll(() => prompt(page).inputValue()).toBe("Half a thought");
});

test("a killed server is noticed, and after its restart pending calls still wait", async () => {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  const file = join(folder, "log.db");
  const first = await spawnServer({ file, port: 0 });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const expects = [/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_NETWORK/];
  const page = await studio.open("/", { url: first.url, expects });
  await say(page, "Save a better greeting");
  // What the card shows is loaded from the server too.
  await page.locator("[data-approval]").getByText("Unified").waitFor();
  await first.kill();
  await page.getByText("Connection lost.").waitFor();
  await takePicture(page, "lost");
  const again = await spawnServer({ file, port: Number(new URL(first.url).port) });
  onTestFinished(() => again.kill());
  await page.getByText("Connection lost.").waitFor({ state: "detached" });
  await expect.poll(() => page.locator("[data-approval]").count()).toBe(1);
  await skipMisclickGuard(page);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await transcript(page).getByText("The greeting is changed.").waitFor();
  await expect.poll(() => getUserMessages(page).count()).toBe(1);
  await expect.poll(() => getAnswers(page).count()).toBe(2);
});

describe("with a key", () => {
  const locked = setupStudio(() => ({
    agents: createChatAgents(),
    about: agentProfiles,
    apiKey: "a-key-for-these-tests",
  }));
  const expects = [/401/];

  test("a user who is not signed in is prompted for the key", async () => {
    const page = await locked.open("/", { expects });
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await takePicture(page, "sign-in");
    await page.getByLabel("Key").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Key").fill("a-key-for-these-tests");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Look up how to begin", exact: true }).waitFor();
  });

  test("a code in the URL signs in and is removed", async () => {
    const page = await locked.open(`/#code=${locked.server.oneTimeCode()}`, { expects });
    await page.getByRole("button", { name: "Look up how to begin", exact: true }).waitFor();
    expect(page.url()).not.toContain("code");
  });
});

test("a run whose agent is gone explains why it cannot continue, and can be cancelled", async () => {
  const measure = defineTool({ name: "measure", description: "The client measures", input: {} });
  const model = scriptedModel([{ calls: [{ name: "measure" }] }]);
  const gone = defineAgent({ name: "surveyor", model, tools: [measure] });
  await run(gone, "How long is it?", { store, session: "ses_stuck" });
  const page = await studio.open("/sessions/ses_stuck");
  const note = page.getByRole("alert").filter({ hasText: "This run cannot continue." });
  await note.getByText('The agent "surveyor" is not configured.').waitFor();
  await note.getByRole("button", { name: "Cancel the run" }).click();
  await note.waitFor({ state: "detached" });
  await transcript(page).getByText("Stopped.").waitFor();
});
