import { type AgentDefinition, defineAgent, defineTool } from "capstan";
import { computeAgentVersion, storeAgentVersion } from "capstan/agents";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { beforeAll, expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { sendAndWait } from "./testing/conversation-page.ts";

const input = { type: "object" } as const;
const search = defineTool({
  name: "search",
  description: "Searches the timetable",
  input,
  execute: () => "",
});
const book = defineTool({ name: "book", description: "Books a berth", input, execute: () => "" });
const pay = defineTool({ name: "pay", description: "Pays the fee", input, execute: () => "" });

const model = scriptedModel(() => ({ text: "The harbour is open." }));
const define = (definition: Partial<AgentDefinition>) =>
  defineAgent({ name: "harbour", model, ...definition } as AgentDefinition<"harbour">);
const deployed = define({
  instructions: "You are the harbour master.\nAnswer briefly.\nName your source.",
  tools: [search, book],
  policy: { maxTurns: 5 },
});
const current = define({
  instructions: "You are the harbour master.\nAnswer in two sentences.\nName your source.",
  tools: [{ ...search, description: "Searches the timetable of all ports" }, pay],
  policy: { maxTurns: 8 },
});
const store = memory();
beforeAll(() => storeAgentVersion(store, deployed));
const studio = setupStudio(() => ({ agents: [current], store }));

test.each([
  { size: "desktop", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("a deploy is a new version of an agent in code: its changes on a $size in $theme", async (look) => {
  const page = await studio.open("/agents", look);
  await page.getByRole("button", { name: "Versions of harbour" }).click();
  const dialog = page.getByRole("dialog");
  const versions = dialog.getByRole("list", { name: "Versions" }).getByRole("listitem");
  await expect
    .poll(() => versions.allTextContents())
    .toEqual([
      expect.stringMatching(new RegExp(`^${computeAgentVersion(current)}.*current`)),
      expect.stringMatching(new RegExp(`^${computeAgentVersion(deployed)}`)),
    ]);
  const changes = dialog.getByRole("region", { name: "Changes" });
  for (const text of ["Answer briefly.", "Answer in two sentences.", "Name your source."])
    await changes.getByText(text).waitFor();
  const tools = changes.getByRole("listitem");
  await expect
    .poll(() => tools.allTextContents())
    .toEqual([
      expect.stringMatching(/^pay.*added$/),
      expect.stringMatching(/^book.*removed$/),
      expect.stringMatching(/^search.*changed.*timetable.*of all ports/),
    ]);
  await changes.getByText(/"maxTurns": 8/).waitFor();
  await expect.poll(() => dialog.getByRole("button", { name: "Restore" }).count()).toBe(0);
  await takePicture(page, `agent-versions-${look.size}-${look.theme}`);
  await assertAccessible(page, "[role=dialog]");
});

test("the inspector names the version that a run used", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, "Is it open?");
  await page
    .getByRole("button", { name: /inspector/i })
    .first()
    .click();
  await page
    .getByTitle("Version of the agent in the newest run")
    .getByText(computeAgentVersion(current))
    .waitFor();
  await takePicture(page, "inspector-version");
});
