import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { assertAccessible, changeTheme } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { sendMessage } from "./testing/conversation-page.ts";

const find = defineTool({
  ...{ name: "find_gate", description: "Finds a gate", input: { type: "object" }, effects: "none" },
  execute: () => "Gate A1 is open.",
});

/** Answers with different costs, calls a tool, or fails. */
const model = scriptedModel(({ history }) => {
  const text = JSON.stringify(history.at(-1));
  const usage = {
    inputTokens: 1_200,
    outputTokens: 80,
    cachedTokens: 600,
    cost: text.includes("long") ? 0.42 : 0.03,
  };
  if (text.includes("broken")) return { error: "model_auth" };
  return text.includes("Where is gate")
    ? { calls: [{ name: "find_gate" }], usage }
    : { text: "Follow the signs.", usage };
});
const studio = setupStudio(() => ({
  agents: ["guide", "clerk"].map((name) => defineAgent({ name, model, tools: [find] })),
}));

const inputs = [
  ["Where is gate A1?", "guide", ["prod"]],
  ["Write a long report about the delays", "clerk", ["prod", "report"]],
  ["What is broken?", "clerk", []],
  ["Hello there", "guide", []],
] as const;

beforeAll(async () => {
  for (const [input, agent, tags] of inputs) await start(input, agent, tags);
});

/** Starts a run and waits for its end. */
async function start(input: string, agent: string, tags: readonly string[] = []): Promise<void> {
  const { fetch } = studio.server;
  const headers = { host: "127.0.0.1", "content-type": "application/json" };
  const post = { method: "POST", headers, body: JSON.stringify({ input, agent, tags }) };
  const { runId } = await (await fetch(new Request("http://127.0.0.1/api/runs", post))).json();
  await (await fetch(new Request(`http://127.0.0.1/api/runs/${runId}/events`, { headers }))).text();
}

const getRun = (page: Page, title: string) => page.getByRole("main").getByRole("link", { name: title });

test.each([
  "desktop",
  "phone",
] as const)("on a %s in both themes, the runs of all sessions are listed with plots, accessibly", async (size) => {
  const page = await studio.open("/runs", { size });
  for (const [title] of inputs) await getRun(page, title).waitFor();
  await page.getByRole("img", { name: /^Cost over time.*\$0\.51/ }).waitFor();
  for (const theme of ["light", "dark"] as const) {
    await changeTheme(page, theme);
    await takePicture(page, `runs-${size}-${theme}`);
    await assertAccessible(page);
  }
  if (size === "phone") {
    await getRun(page, "Hello there").scrollIntoViewIfNeeded();
    await takePicture(page, "runs-phone-list");
  }
});

test("failed, slowest and most expensive runs are one click away, and filters are in the address", async () => {
  const page = await studio.open("/runs");
  await getRun(page, "Hello there").waitFor();
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await getRun(page, "Hello there").waitFor({ state: "detached" });
  await getRun(page, "What is broken?").waitFor();
  expect(page.url()).toContain("status=failed");
  await page.getByRole("button", { name: "Most expensive" }).click();
  const first = page.getByRole("rowheader").first();
  await first.getByText("Write a long report").waitFor();
  await expect
    .poll(() => page.getByRole("columnheader", { name: "Cost" }).getAttribute("aria-sort"))
    .toBe("descending");
  await page.getByLabel("Search runs").fill("open");
  await getRun(page, "Write a long report").waitFor({ state: "detached" });
  await getRun(page, "Where is gate A1?").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Tag").fill("report");
  await getRun(page, "Where is gate A1?").waitFor({ state: "detached" });
  await getRun(page, "Write a long report").waitFor();
  await page.reload();
  await getRun(page, "Write a long report").waitFor();
  await expect.poll(() => page.getByRole("rowheader").count()).toBe(1);
});

test.each([
  "desktop",
  "phone",
] as const)("on a %s, a tag selects its runs by click and by key, and once more all", async (size) => {
  const page = await studio.open("/runs", { size });
  await getRun(page, "Hello there").waitFor();
  const tag = page.getByRole("main").getByRole("button", { name: "report", exact: true });
  await tag.focus();
  await page.keyboard.press("Enter");
  await getRun(page, "Hello there").waitFor({ state: "detached" });
  expect(page.url()).toContain("/runs?tag=report");
  await expect.poll(() => tag.getAttribute("aria-pressed")).toBe("true");
  expect(size === "phone" ? ((await tag.boundingBox())?.height ?? 0) : 44).toBeGreaterThanOrEqual(44);
  await tag.click();
  await getRun(page, "Hello there").waitFor();
  expect(page.url()).toMatch(/\/runs$/);
});

test("a plot without anything to draw says so", async () => {
  const page = await studio.open("/runs?status=failed");
  await getRun(page, "What is broken?").waitFor();
  await page
    .getByRole("img", { name: /^Cost over time/ })
    .getByText("None in this time.")
    .waitFor();
  expect(
    await page
      .getByRole("img", { name: /^Runs over time/ })
      .locator("canvas")
      .count(),
  ).toBe(1);
});

test("columns and views are chosen once and kept, and the list follows new runs", async () => {
  const page = await studio.open("/runs?agent=clerk");
  await getRun(page, "What is broken?").waitFor();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Stop reason" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("columnheader", { name: "Stop reason" }).waitFor();
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByLabel("Name of the view").fill("Clerk only");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Clerk only", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${studio.url}/runs`);
  await page.getByRole("columnheader", { name: "Stop reason" }).waitFor();
  await page.getByRole("button", { name: "Views (1)" }).click();
  await page.getByRole("button", { name: "Clerk only", exact: true }).click();
  await getRun(page, "Hello there").waitFor({ state: "detached" });
  await start("A new question for the clerk", "clerk");
  await getRun(page, "A new question for the clerk").waitFor();
});

test("the keyboard moves through the runs and opens one in its session", async () => {
  const page = await studio.open("/runs?order=asc");
  await getRun(page, "Where is gate A1?").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  const focused = page.locator(":focus-visible");
  await expect.poll(() => focused.textContent()).toContain("Write a long report");
  await takePicture(page, "runs-focus");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Conversation" }).getByText("Follow the signs.").waitFor();
  expect(page.url()).not.toContain("run=");
});

test("exports have the runs of the view", async () => {
  const page = await studio.open("/runs?status=failed");
  await getRun(page, "What is broken?").waitFor();
  const link = page.getByRole("link", { name: "CSV" });
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toBe("runs.csv");
  const stream = await download.createReadStream();
  const csv = (await stream.toArray()).join("");
  expect(csv.split("\r\n")).toHaveLength(3);
  expect(csv).toContain("What is broken?");
});

test("an answer is rated, corrected, and found by its feedback", async () => {
  const page = await studio.open("/runs?q=report");
  await getRun(page, "Write a long report").click();
  const conversation = page.getByRole("region", { name: "Conversation" });
  await conversation.getByRole("button", { name: "Bad answer" }).click();
  await conversation.getByRole("button", { name: "Bad answer", pressed: true }).waitFor();
  await conversation.getByRole("button", { name: "Add a note or a correction" }).click();
  const dialog = page.getByRole("dialog", { name: "Feedback" });
  await dialog.getByLabel("Note").fill("Too short");
  await dialog.getByRole("button", { name: "Start from the answer" }).click();
  await dialog.getByLabel("Correct answer").fill("Follow the signs to A1.");
  await takePicture(page, "feedback-dialog");
  await dialog.getByRole("button", { name: "Save" }).click();
  await conversation.getByText("Follow the signs to A1.").waitFor();
  await takePicture(page, "feedback-chat");
  await assertAccessible(page);
  await page.reload();
  await conversation.getByText("Follow the signs to A1.").waitFor();
  await conversation.getByRole("button", { name: "Bad answer", pressed: true }).waitFor();
  await page.goto(`${studio.url}/runs?feedback=down`);
  await getRun(page, "Write a long report").waitFor();
  await page.getByRole("main").getByText("Too short").waitFor();
  await expect.poll(() => page.getByRole("rowheader").count()).toBe(1);
});

test("a session whose newest run failed is marked in the sidebar, until a run of it succeeds", async () => {
  const page = await studio.open("/runs");
  const sidebar = page.getByRole("navigation", { name: "Sessions" });
  const failed = sidebar.getByRole("link", { name: "What is broken?" });
  await failed.getByRole("img", { name: "Failed" }).waitFor();
  await expect.poll(() => sidebar.getByRole("img", { name: "Failed" }).count()).toBe(1);
  await failed.click();
  await sendMessage(page, "Hello again");
  await page.getByRole("main").getByText("Follow the signs.", { exact: true }).waitFor();
  await failed.getByRole("img", { name: "Failed" }).waitFor({ state: "detached" });
});
