import { shellTool } from "@capstan/tools";
import { defineAgent, defineTool, type UiHint } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { getCards, sendMessage, skipMisclickGuard, waitUntilIdle } from "./testing/conversation-page.ts";
import { rename } from "./widgets/previews-fixture-data.ts";

const sent: object[] = [];
const heard: string[] = [];
beforeEach(() => {
  sent.length = 0;
  heard.length = 0;
});

const sendMail = defineTool({
  name: "send_mail",
  description: "Sends a mail",
  input: z.object({ to: z.string(), subject: z.string(), body: z.string(), copies: z.int().optional() }),
  effects: "send",
  needsApproval: "Sends a mail in your name.",
  target: ({ to }) => to,
  execute(input) {
    sent.push(input);
    return `Sent to ${input.to}`;
  },
});
const renameFunction = defineTool({
  name: "rename_function",
  description: "Renames a function in all files",
  input: z.object({ from: z.string(), to: z.string() }),
  effects: "state",
  needsApproval: () => ({ reason: "Changes 3 files.", ui: rename as unknown as UiHint }),
  execute: () => "Renamed",
});
const findCustomer = defineTool({
  name: "find_customer",
  description: "Finds a customer in the mailbox",
  input: z.object({}),
  effects: "none",
  reads: ["private", "untrusted"],
  execute: () => "Ann Smith, IBAN DE89 3704 0044 0532 0130 00",
});
const shell = shellTool({ cwd: import.meta.dirname });

const letter = {
  ...{ to: "ines@larkfield.example", subject: "Workshop budget" },
  body: "Hello Ines,\n\nthe boathouse is booked for 18,400 euros.\n\nBest regards",
};
const calls = {
  mail: { name: "send_mail", input: letter },
  rename: { name: "rename_function", input: { from: "greet", to: "welcome" } },
  customer: { name: "find_customer", input: {} },
  command: { name: "shell", input: { command: ["npm", "run", "build", "--", "--mode", "a b"] } },
} as const;

const model = scriptedModel(({ history }) => {
  const last = history.at(-1);
  if (last?.type === "result" && String(last.content).startsWith("Ann Smith")) return { calls: [calls.mail] };
  if (last?.type === "result") {
    heard.push(String(last.content));
    return { text: "Done." };
  }
  const text = last?.type === "user" ? String(last.content) : "";
  const [word = ""] = text.split(" ");
  return { calls: [word in calls ? calls[word as keyof typeof calls] : calls.mail] };
});
const office = defineAgent({ name: "office", model, tools: [sendMail, renameFunction, findCustomer, shell] });
const studio = setupStudio(() => ({ agents: [office] }));

async function ask(page: Page, text: string): Promise<Locator> {
  await sendMessage(page, text);
  const card = page.locator("[data-approval]");
  await card.waitFor();
  await skipMisclickGuard(page);
  return card;
}

describe.each([
  { size: "desktop", theme: "light" },
  { size: "phone", theme: "dark" },
] as const)("on a $size in $theme", ({ size, theme }) => {
  test("approvals show the email, the command and every file of a rename, without a warning", async () => {
    const page = await studio.open("/", { size, theme });
    for (const [text, contents] of [
      ["mail", ["ines@larkfield.example", "Workshop budget", "18,400 euros"]],
      ["rename", ["3 files", "src/greet.py → src/welcome.py", "docs/greet.md → docs/welcome.md", "main.py"]],
      ["command", ["npm run build -- --mode 'a b'", import.meta.dirname]],
    ] as const) {
      const card = await ask(page, text);
      for (const content of contents) await card.getByText(content).first().waitFor();
      await expect.poll(() => card.locator("[data-warning]").count()).toBe(0);
      const always = card.getByRole("button", { name: "Always allow" });
      const scope = await always.getAttribute("aria-describedby");
      await expect
        .poll(() => page.locator(`[id="${scope}"]`).textContent())
        .toMatch(/^“Always allow” covers .+, in this session\.$/);
      await card.scrollIntoViewIfNeeded();
      await takePicture(page, `approval-${text}-${size}-${theme}`);
      await assertAccessible(page, "[data-approval]");
      await card.getByRole("button", { name: "Deny" }).click();
      await waitUntilIdle(page);
    }
  });
});

test("arguments are edited by keyboard, refused if invalid, and the agent is told", async () => {
  const page = await studio.open("/", { expects: [/400/] });
  const card = await ask(page, "mail");
  // The list of sessions follows the run, and not only when it is loaded again.
  const listed = page.getByRole("navigation", { name: "Sessions" }).locator("[aria-current=page]");
  await listed.getByRole("img", { name: "Waiting for you" }).waitFor();
  await card.getByRole("button", { name: "Edit" }).focus();
  await page.keyboard.press("Enter");
  const form = card.getByRole("form", { name: "Change the arguments" });
  expect(await form.getByLabel("to").evaluate((input) => input === document.activeElement)).toBe(true);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("tomas@larkfield.example");
  await form.getByRole("button", { name: "Edit as JSON" }).click();
  const json = form.getByLabel("Arguments as JSON");
  expect(JSON.parse(await json.inputValue())).toEqual({ ...letter, to: "tomas@larkfield.example" });
  await json.fill("{");
  await skipMisclickGuard(page);
  await form.getByRole("button", { name: "Allow with changes" }).click();
  await form.getByText("This is not valid JSON.").waitFor();
  await json.fill(JSON.stringify({ ...letter, to: "tomas@larkfield.example", copies: "two" }));
  await form.getByRole("button", { name: "Allow with changes" }).click();
  await form.getByText(/not valid for "send_mail": .*copies/).waitFor();
  await takePicture(page, "approval-edit");
  expect(sent).toEqual([]);
  const edited = { ...letter, to: "tomas@larkfield.example", copies: 2 };
  await json.fill(JSON.stringify(edited));
  await form.getByRole("button", { name: "Allow with changes" }).press("Enter");
  await waitUntilIdle(page);
  await listed.getByRole("img").waitFor({ state: "detached" });
  expect(sent).toEqual([edited]);
  expect(heard).toEqual([
    expect.stringMatching(
      /^The user changed the arguments before approving: to: "tomas.*; copies: 2\..*\n\nSent to tomas/,
    ),
  ]);
  const callCard = getCards(page, "ok");
  await callCard.getByText("edited by you").waitFor();
  await page.reload();
  await getCards(page, "ok").getByText("edited by you").waitFor();
});

test("Escape leaves the form without a decision", async () => {
  const page = await studio.open("/", { size: "phone" });
  const card = await ask(page, "mail");
  await card.locator("p", { hasText: "the boathouse" }).waitFor(); // the preview moves the buttons
  await card.getByRole("button", { name: "Edit" }).click();
  await card.getByLabel("subject").fill("Other");
  await card.getByText("Other", { exact: true }).waitFor(); // the preview follows the edit
  await takePicture(page, "approval-form-phone");
  await page.keyboard.press("Escape");
  await card.getByRole("button", { name: "Edit" }).waitFor();
  await card.getByText("Workshop budget", { exact: true }).waitFor();
  await skipMisclickGuard(page);
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await waitUntilIdle(page);
  expect(sent).toEqual([letter]);
});

test("a call is denied while its arguments are edited, even if they are invalid", async () => {
  const page = await studio.open("/");
  const card = await ask(page, "mail");
  await card.getByRole("button", { name: "Edit" }).click();
  const form = card.getByRole("form", { name: "Change the arguments" });
  await form.getByRole("button", { name: "Edit as JSON" }).click();
  await form.getByLabel("Arguments as JSON").fill("{");
  await skipMisclickGuard(page);
  await form.getByRole("button", { name: "Deny", exact: true }).click();
  await waitUntilIdle(page);
  await getCards(page, "denied").waitFor();
  expect(sent).toEqual([]);
});

test("changed arguments are checked again: a new recipient and private data show their warning before the call (A30, A107)", async () => {
  const page = await studio.open("/");
  const card = await ask(page, "customer data first, then write to ines@larkfield.example");
  await expect.poll(() => card.locator("[data-warning]").count()).toBe(0);
  await card.getByRole("button", { name: "Edit" }).click();
  const form = card.getByRole("form", { name: "Change the arguments" });
  await skipMisclickGuard(page);
  await form.getByLabel("to", { exact: true }).fill("eve@other.example");
  await form.getByLabel("body").fill("The IBAN is DE89 3704 0044 0532 0130 00.");
  await form.getByRole("button", { name: "Allow with changes" }).click();
  const finding = /eve@other\.example.*which you have not named.*arguments contain private data/;

  await card.locator("[data-warning]", { hasText: finding }).waitFor();
  expect(sent).toEqual([]);
  await takePicture(page, "approval-edit-warning");
  await skipMisclickGuard(page);
  await form.getByRole("button", { name: "Allow with changes" }).click();
  await waitUntilIdle(page);
  expect(sent).toMatchObject([{ to: "eve@other.example" }]);
});
