import { defineAgent, defineTool } from "capstan";
import { createClient } from "capstan/client";
import { createEvalsClient } from "capstan/client/evals";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { assertAccessible, changeTheme } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";

let executions = 0;
const book = defineTool({
  name: "book",
  description: "Books a berth",
  input: { berth: { type: "string", required: true } },
  effects: "send",
  execute() {
    executions++;
    return "booked";
  },
});
/** Answers worse about berths after the change. */
let isChanged = false;
const harbour = defineAgent({
  name: "harbour",
  tools: [book],
  model: scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: `Berth: ${last.content}` };
    const text = last?.type === "user" ? String(last.content) : "";
    if (text.startsWith("Book")) return { calls: [{ name: "book", input: { berth: "B2" } }] };
    return {
      text:
        isChanged && text.includes("berth") ? "I do not know." : `The harbour is open. You asked: ${text}`,
    };
  }),
});

const studio = setupStudio(() => ({ agents: [harbour], about: { harbour: { title: "Harbour" } } }));
const connect = () => createClient({ baseURL: studio.url });
const connectEvals = () => createEvalsClient({ baseURL: studio.url });

/** The button is disabled, and the reason is shown and is its description. */
async function expectBlocked(page: Page, name: string, reason: string): Promise<void> {
  await page.getByText(reason, { exact: true }).waitFor();
  const button = page.getByRole("button", { name, exact: true });
  await expect.poll(() => button.isDisabled()).toBe(true);
  const description = await button.evaluate((element) => element.ariaDescribedByElements?.[0]?.textContent);
  expect(description).toBe(reason);
}

test("a dataset is created, filled by hand and from a file, and edited, with the keyboard", async () => {
  const page = await studio.open("/datasets", { expects: [/400/] });
  await page.getByText("No datasets yet").waitFor();
  await takePicture(page, "evals-datasets-empty");
  await page.getByRole("button", { name: "New dataset" }).press("Enter");
  await page.getByLabel("Name").fill("bad/name");
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/needs a name/)
    .waitFor();
  await page.getByLabel("Name").fill("harbour questions");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "harbour questions" }).waitFor();
  await expectBlocked(page, "Run experiment", "Add a case first.");
  await page.getByRole("button", { name: "New case" }).press("Enter");
  const dialog = page.getByRole("dialog");
  await expectBlocked(page, "Save case", "A case needs a name and an input.");
  await dialog.getByLabel("Name").fill("booking");
  await dialog.getByLabel("Input").fill("Book a berth");
  await dialog.getByLabel("Expected answer").fill("Berth");
  await dialog.getByLabel("Expected calls").fill('{"name":"book","input":{"berth":"B2"}}');
  await takePicture(page, "evals-case-form");
  await assertAccessible(page, "[role=dialog]");
  await dialog.getByRole("button", { name: "Save case" }).press("Enter");
  await page.getByRole("cell", { name: 'book({"berth":"B2"})' }).waitFor();
  const importFile = async (name: string, text: string) => {
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Import" }).click(),
    ]);
    await chooser.setFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  };
  await importFile("bad.csv", "id,question\n1,2");
  await page
    .locator("[aria-live]")
    .getByText(/unknown column "question"/)
    .waitFor();
  const rows = [1, 2, 3, 4, 5, 6].map((n) => `berth ${n},Is berth ${n} free?,open`);
  await importFile("cases.csv", `id,input,expected\n${rows.join("\n")}`);
  await page.getByText("Imported 6 cases.").waitFor();
  await page.getByRole("button", { name: "berth 6", exact: true }).press("Enter");
  await dialog.getByLabel("Notes").fill("The last one");
  await dialog.getByRole("button", { name: "Save case" }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  expect((await connectEvals().datasets.get("harbour questions")).cases.at(-1)).toEqual({
    id: "booking",
    input: "Book a berth",
    expected: "Berth",
    calls: [{ name: "book", input: { berth: "B2" } }],
  });
  await page.getByRole("button", { name: "Delete the case berth 6" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "berth 6", exact: true }).waitFor({ state: "detached" });
});

test("an experiment is started, reviewed and compared; simulated tools do nothing", async () => {
  const page = await studio.open("/datasets/harbour%20questions");
  const start = async () => {
    const button = page.getByRole("button", { name: "Run experiment" });
    await expect.poll(() => button.isEnabled()).toBe(true); // once the cases are loaded
    await button.press("Enter");
    const dialog = page.getByRole("dialog");
    for (const scorer of ["contains", "callSequence", "forbiddenEffects"])
      await dialog.getByRole("checkbox", { name: scorer }).uncheck();
    await expectBlocked(page, "Start", "Choose a scorer.");
    for (const scorer of ["contains", "callSequence", "forbiddenEffects"])
      await dialog.getByRole("checkbox", { name: scorer }).check();
    await dialog.getByLabel("Attempts at each case").fill("2");
    await takePicture(page, "evals-start");
    const submit = dialog.getByRole("button", { name: "Start" });
    await expect.poll(() => submit.isEnabled()).toBe(true); // once the cases and agents are loaded
    await submit.press("Enter");
    await page.getByRole("heading", { name: /of the attempts passed/ }).waitFor();
    await page.getByRole("button", { name: "Delete experiment" }).waitFor();
  };
  await start();
  await page.getByRole("heading", { name: "100 % of the attempts passed" }).waitFor();
  expect(executions).toBe(0);
  await page.getByRole("button", { name: "Good answer: berth 1, attempt 1" }).press("Enter");
  await page.getByRole("cell", { name: "1 of 1" }).first().waitFor();
  await page.getByRole("link", { name: "Open run of berth 1, attempt 1" }).press("Enter");
  await page.getByText("The harbour is open. You asked: Is berth 1 free?").first().waitFor();
  isChanged = true;
  await page.goto(`${studio.url}/datasets/harbour%20questions`);
  await start();
  const compare = page.getByRole("combobox", { name: "Compare with" });
  await expect.poll(() => compare.locator("option").count()).toBe(2); // once the experiments are loaded
  const [, earlier = ""] = await compare
    .locator("option")
    .evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
  await compare.selectOption(earlier);
  await page.getByRole("row", { name: /All 6 cases contains cannot tell 1.00 0.17/ }).waitFor();
  await page.getByRole("row", { name: /berth 1 contains cannot tell 1.00 0.00 -1.00 to 1.00/ }).waitFor();
});

test("an answer of a chat is saved with a correction", async () => {
  const client = connect();
  const { runId, sessionId } = await client.runs.start({
    agent: "harbour",
    input: "When does the harbour open?",
  });
  await expect.poll(async () => (await client.runs.get(runId)).state).toBe("ended");
  const page = await studio.open(`/sessions/${sessionId}`);
  await page.getByRole("button", { name: "Save to dataset" }).press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name of the case").fill("opening");
  await dialog.getByLabel("Expected answer").fill("At six.");
  await takePicture(page, "evals-save");
  await assertAccessible(page, "[role=dialog]");
  await dialog.getByRole("button", { name: "Save case" }).press("Enter");
  await page.getByText("Saved to harbour questions.").waitFor();
  const { cases } = await connectEvals().datasets.get("harbour questions");
  expect(cases.find(({ id }) => id === "opening")).toMatchObject({
    input: "When does the harbour open?",
    expected: "At six.",
    source: { runId },
  });
});

test.each([
  "desktop",
  "phone",
] as const)("on a %s in both themes, the pages of evals load, are accessible and fit", async (size) => {
  const [after, before] = await connectEvals().experiments.list();
  const page = await studio.open("/experiments", { size });
  const pages = [
    ["experiments", "/experiments", "Experiments"],
    ["datasets", "/datasets", "Datasets"],
    ["dataset", "/datasets/harbour%20questions", "harbour questions"],
    ["experiment", `/experiments/${after?.id}?against=${before?.id}`, "harbour questions"],
  ] as const;
  for (const [name, path, title] of pages) {
    await page.goto(studio.url + path);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.waitForFunction(() => !document.querySelector("main [role=status] .animate-spin"));
    if (name === "experiment")
      await page
        .getByRole("row", { name: /All 6 cases/ })
        .first()
        .waitFor();
    for (const theme of ["light", "dark"] as const) {
      await changeTheme(page, theme);
      await takePicture(page, `evals-${name}-${size}-${theme}`);
      await assertAccessible(page);
    }
  }
});

test("an experiment that stopped at a quota says so, and is continued when the quota allows it", async () => {
  const headers = { host: "127.0.0.1", "content-type": "application/json" };
  const send = (path: string, init: RequestInit) =>
    studio.server.fetch(new Request(`http://127.0.0.1${path}`, { headers, ...init }));
  const setQuotas = (quotas: object) =>
    send("/api/admin/quotas", { method: "PUT", body: JSON.stringify({ quotas }) });
  const { windows } = await (await send("/api/usage", {})).json();
  await setQuotas({ runs: { day: windows.day.runs + 2 } });
  const request = { dataset: "harbour questions", agent: "harbour", scorers: ["contains" as const] };
  const { id } = await connectEvals().experiments.start({ ...request, tools: { "*": "simulated" } });
  await expect.poll(async () => (await connectEvals().experiments.get(id)).status).toBe("stopped");
  const page = await studio.open(`/experiments/${id}`, { size: "phone", theme: "dark" });
  await page.getByText(/^Your quota of \d+ runs per day is used up\. It resets at/).waitFor();
  await page.getByText(/^2 of \d+ attempts$/).waitFor();
  await takePicture(page, "evals-stopped-phone-dark");
  await assertAccessible(page);
  await setQuotas({});
  await page.getByRole("button", { name: "Continue" }).press("Enter");
  await page.getByRole("button", { name: "Continue" }).waitFor({ state: "detached" });
  await expect.poll(async () => (await connectEvals().experiments.get(id)).status).toBe("done");
  const { results, cases } = await connectEvals().experiments.get(id);
  expect(results).toHaveLength(cases.length);
});
