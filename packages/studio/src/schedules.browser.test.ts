import { offline } from "@capstan/offline";
import { defineAgent } from "capstan";
import { scheduleTool } from "capstan/schedules";
import { memory } from "capstan/stores/memory";
import { expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";

const studio = setupStudio(() => {
  const store = memory();
  const helper = defineAgent({ name: "helper", model: offline(), tools: [scheduleTool({ store })] });
  const error = { code: "quota_exceeded", message: "The quota of runs is used up.", retryable: true };
  const late = {
    runId: "run_late",
    sessionId: "ses_late",
    dueAt: 1e12,
    startedAt: 1e12 + 7_500_000,
    missed: 2,
  };
  const failed = { runId: "run_failed", sessionId: "ses_failed", dueAt: 2e12, startedAt: 2e12, error };
  const missing = {
    ...{ agent: "helper", input: [{ type: "user", content: "Count the boats" }], timeZone: "UTC" },
    ...{ timing: { type: "cron", cron: "0 9 * * *" }, missed: "run-once", state: "paused", createdAt: 1e12 },
    ...{ runs: [failed, late], missedCount: 2, missedAt: 1e12 },
  };
  void store.putRecord({ kind: "schedule", id: "sch_missing", body: missing }, 0);
  return { store, agents: [helper] };
});

test.each([
  { size: "desktop", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("a schedule is added with the keyboard, run, paused, resumed and removed ($size, $theme)", async ({
  size,
  theme,
}) => {
  const page = await studio.open("/schedules", { size, theme, expects: [/400 \(Bad Request\)/] });
  const message = `What is 2 + 3? (${size})`;
  await page.getByRole("button", { name: "New schedule" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Message").fill(message);
  await page.getByLabel("When", { exact: true }).fill("whenever");
  await page.keyboard.press("Enter");
  await page.getByText("is not understood").waitFor();
  await page.getByLabel("When", { exact: true }).fill("every weekday at 8:15");
  await assertAccessible(page);
  await takePicture(page, `schedules-new-${size}-${theme}`);
  await page.keyboard.press("Enter");
  const row = page.getByRole("listitem").filter({ hasText: message }).first();
  await row.getByText("Next:").waitFor();
  await row.getByRole("button", { name: `Run now: ${message}` }).click();
  await row.getByRole("button", { name: /^1 run/ }).click();
  await row.getByText("started by you").waitFor();
  await row.getByRole("button", { name: `Pause ${message}` }).click();
  await row.getByText("paused").waitFor();
  await assertAccessible(page);
  await takePicture(page, `schedules-${size}-${theme}`);
  await row.getByRole("button", { name: `Resume ${message}` }).click();
  await row.getByText("Next:").waitFor();
  await row.getByRole("link").first().click();
  await page.getByRole("region", { name: "Conversation" }).getByText(message).waitFor();
  await page.goBack();
  await row.getByRole("button", { name: `Remove ${message}` }).click();
  await page.getByRole("button", { name: "Remove", exact: true }).last().click();
  await row.waitFor({ state: "detached" });
});

test("a schedule shows what was missed, what started late, and why a run did not start", async () => {
  const page = await studio.open("/schedules");
  const row = page.getByRole("listitem").filter({ hasText: "Count the boats" }).first();
  await row.getByText("2 missed", { exact: true }).waitFor();
  await row.getByText("2 times passed while no server was running.").waitFor();
  await row.getByText("not started").waitFor();
  await row.getByRole("button", { name: /^2 runs/ }).click();
  await row.getByText("2 h 5 min late").waitFor();
  await row.getByText("The quota of runs is used up.").waitFor();
  await assertAccessible(page);
  await takePicture(page, "schedules-missed-desktop-light");
});

test("a reminder that is asked for in a chat arrives there, and is listed", async () => {
  const page = await studio.open("/");
  const prompt = page.locator("[data-prompt]");
  await prompt.fill("Remind me in 1 second to water the plants");
  await prompt.press("Enter");
  const transcript = page.getByRole("region", { name: "Conversation" });
  await transcript.getByText(/Scheduled: today/).waitFor();
  await transcript.getByText("Reminder: water the plants").waitFor();
  await expect.poll(() => page.getByRole("article", { name: "Scheduled message" }).count()).toBe(1);
  await takePicture(page, "schedules-reminder-desktop-light");
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByRole("listitem").filter({ hasText: "water the plants" }).getByText("ended").waitFor();
});
