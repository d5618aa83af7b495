import { agentTool, defineAgent, defineTool, toPlainText } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { skipMisclickGuard } from "./testing/conversation-page.ts";

let survey = Promise.withResolvers<string>();

const survey_office = defineTool({
  name: "survey_office",
  description: "Asks the survey office",
  input: { type: "object", properties: {} },
  effects: "none",
  reads: ["public"],
  execute: () => survey.promise,
});
const book_drill = defineTool({
  name: "book_drill",
  description: "Books a drill",
  input: { type: "object", properties: {} },
  effects: "state",
  reads: ["public"],
  needsApproval: "Books a drill for a week.",
  execute: () => "Booked.",
});
const research = defineAgent({
  name: "research",
  model: scriptedModel(({ history }) =>
    history.some(({ type }) => type === "result")
      ? { text: "The ground is solid rock." }
      : { text: "I ask the survey office.", calls: [{ name: "survey_office", input: {} }] },
  ),
  tools: [survey_office],
});
const logistics = defineAgent({
  name: "logistics",
  model: scriptedModel(({ history }) =>
    history.some(({ type }) => type === "result")
      ? { text: "The drill is booked." }
      : { calls: [{ name: "book_drill", input: {} }] },
  ),
  tools: [book_drill],
});
const planner = defineAgent({
  name: "planner",
  model: scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (history.length === 1)
      return {
        calls: [
          { name: "research", input: { prompt: "What is the ground made of?" } },
          { name: "logistics", input: { prompt: "Get a drill." } },
        ],
      };
    const text = last?.type === "user" ? toPlainText(last.content) : "";
    if (text.startsWith("What does it cost")) return { text: "About 40 million per kilometer." };
    const texts = history.flatMap((entry) => (entry.type === "user" ? [toPlainText(entry.content)] : []));
    const count = texts.filter((words) => / is done| was cancelled/.test(words)).length;
    return { text: `I know ${count} results so far.` };
  }),
  tools: [agentTool(research, { background: true }), agentTool(logistics, { background: true })],
});

const studio = setupStudio(() => ({ store: memory(), agents: [planner] }));

async function say(page: Page, text: string): Promise<void> {
  const prompt = page.locator("[data-prompt]");
  await prompt.fill(text);
  await prompt.press("Enter");
}

const transcript = (page: Page) => page.getByRole("region", { name: "Conversation" });

test.each([
  { size: "desktop", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("background work shows its status and its run, asks for approval and is cancelled, while the chat goes on ($size, $theme)", async ({
  size,
  theme,
}) => {
  survey = Promise.withResolvers();
  const page = await studio.open("/", { size, theme });
  await say(page, "Plan a tunnel.");
  const digging = page.getByRole("region", { name: "Nested run of research" });
  const booking = page.getByRole("region", { name: "Nested run of logistics" });
  await digging.getByText("Working in the background").waitFor();
  await booking.getByText("Waiting for you, in the background").waitFor();
  await transcript(page).getByText("I know 0 results so far.").waitFor();
  await transcript(page).getByText("Waiting for background work").waitFor();
  await takePicture(page, `background-${size}-${theme}`);
  await assertAccessible(page);
  await say(page, "What does it cost?");
  await transcript(page).getByText("About 40 million per kilometer.").waitFor();
  await skipMisclickGuard(page);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await booking.getByText("Background work is done").waitFor();
  await transcript(page).getByText("I know 1 results so far.").waitFor();
  await digging.getByRole("button", { name: "Cancel" }).click();
  await digging.getByText("Background work was cancelled").waitFor();
  await transcript(page).getByText("I know 2 results so far.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await takePicture(page, `background-over-${size}-${theme}`);
  await expect.poll(() => page.locator("[data-background]").count()).toBe(2);
  await digging.getByRole("button", { name: "Show its run in the timeline" }).click();
  await page.getByRole("tab", { name: "Timeline" }).waitFor();
});
