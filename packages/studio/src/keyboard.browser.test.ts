import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupStudio } from "./testing/browser.ts";
import { agentProfiles, createChatAgents } from "./testing/chat-agents.ts";
import {
  chooseMenuItem,
  getFocusedName,
  retryGesture,
  skipMisclickGuard,
} from "./testing/conversation-page.ts";

const studio = setupStudio(() => ({ agents: createChatAgents(), about: agentProfiles }));

const getConversation = (page: Page) => page.getByRole("region", { name: "Conversation" });
const isAtRest = (page: Page) => page.getByRole("button", { name: "Send" }).waitFor();

/** Goes on with the Tab key until what has this name is reached; everything on the way must show that it has the focus. */
async function tabTo(page: Page, name: string | RegExp, key = "Tab"): Promise<void> {
  for (let step = 0; step < 80; step++) {
    const at = await getFocusedName(page);
    if (typeof name === "string" ? at === name : name.test(at)) return;
    await page.keyboard.press(key);
    expect(await page.evaluate(isFocusVisible)).toBe(true);
  }
  throw new Error(`The keyboard does not come to ${name}.`);
}

/** On the element itself, or on what is around a field. */
function isFocusVisible(): boolean {
  const one = document.activeElement;
  if (!one || one === document.body) return true;
  const marks = (element: Element) => {
    const { outlineStyle, outlineWidth, boxShadow, opacity } = getComputedStyle(element);
    return opacity !== "0" && ((outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none");
  };
  const { width, height } = one.getBoundingClientRect();
  return marks(one) || one.matches("textarea, section[tabindex], [role=tabpanel]") || width * height === 0;
}

async function say(page: Page, text: string): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

test("a chat, an approval, a stop and a branch work by keyboard alone", async () => {
  const page = await studio.open("/");
  await page.locator("[data-prompt]").waitFor();
  await page.keyboard.type("Save a better greeting");
  await page.keyboard.press("Enter");
  await page.locator("[data-approval]").waitFor();
  await tabTo(page, "Allow", "Shift+Tab");
  await skipMisclickGuard(page);
  await page.keyboard.press("Enter");
  await getConversation(page).getByText("The greeting is changed.").waitFor();
  await isAtRest(page);
  await getConversation(page).focus();
  await say(page, "Count");
  await page.locator("[data-live]").getByText("word12").waitFor();
  await page.keyboard.press("Escape");
  await isAtRest(page);
  await page.keyboard.press("ArrowUp");
  await page.getByLabel("Edit your message").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Other words");
  await page.keyboard.press("Enter");
  await getConversation(page).getByText("You said: Other words").waitFor();
  await getConversation(page).getByText("2/2").waitFor();
});

test("the inspector, replay, palette, help and sessions work by keyboard alone", async () => {
  const page = await studio.open("/");
  await page.locator("[data-prompt]").waitFor();
  await page.keyboard.type("Look up how to begin");
  await page.keyboard.press("Enter");
  await getConversation(page).getByText("The guide names two ways").waitFor();
  await isAtRest(page);

  await page.keyboard.press("Control+i");
  await page.getByRole("tab", { name: "Timeline" }).waitFor();
  await tabTo(page, "Timeline");
  for (const tab of ["Reasoning", "Messages", "Prompt", "Events", "Policy"]) {
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tab", { name: tab, selected: true }).waitFor();
  }
  await page.keyboard.press("Control+i");

  await getConversation(page).focus();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keyboard" });
  await keys.waitFor();
  await retryGesture(
    () => page.keyboard.press("Escape"),
    () => keys.waitFor({ state: "detached" }),
  );
  await expect.poll(() => getFocusedName(page)).toBe("Conversation");

  const { pathname } = new URL(page.url());
  await page.goto(`${studio.url}${pathname}/replay`);
  await page.getByRole("slider", { name: "Moment" }).waitFor();
  await page.getByRole("slider", { name: "Moment" }).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("End");

  await page.keyboard.press("Control+k");
  await expect.poll(() => getFocusedName(page)).toBe("Find");
  await page.keyboard.type("sessions");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/sessions$/);
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await tabTo(page, /^Actions for Look up/);
  await chooseMenuItem(page, "Rename");
  await page.getByRole("dialog", { name: "Rename" }).waitFor();
  await expect.poll(() => getFocusedName(page)).toBe("Title");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("A better name");
  await page.keyboard.press("Enter");
  await page.getByRole("main").getByText("A better name").waitFor();
  await tabTo(page, /^Actions for A better name/);
  await chooseMenuItem(page, "Delete");
  await page.getByRole("dialog", { name: /Delete/ }).waitFor();
  await tabTo(page, "Delete");
  await page.keyboard.press("Enter");
  await page.getByRole("main").getByText("A better name").waitFor({ state: "detached" });
});
