import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeEach, expect, test } from "vitest";
import { picture, studioFor } from "./testing/browser.ts";
import { ask, transcript } from "./testing/conversation-page.ts";

const visits: string[] = [];
const elsewhere = createServer((request, response) => {
  visits.push(request.url ?? "");
  response.end("Elsewhere");
});
await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
const host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
afterAll(() => void elsewhere.close());
beforeEach(() => void visits.splice(0));

const model = scriptedModel(() => ({ text: `Sign in at [https://bank.example](http://${host}/trap?a=1).` }), {
  record: false,
});
const studio = studioFor(() => ({ agents: [defineAgent({ name: "guide", model })] }));

const link = (page: Page): Locator => transcript(page).getByRole("link", { name: "https://bank.example" });
const question = (page: Page): Locator => page.getByRole("dialog", { name: "Open this link?" });
const visited = () => visits.filter((path) => path.startsWith("/trap"));

async function pageWithLink(look: { readonly size?: "phone" } = {}): Promise<Page> {
  const page = await studio.open("/", look);
  await ask(page, "Where do I sign in?");
  await link(page).waitFor();
  return page;
}

test("a link in an answer shows where it leads, and is not opened before the person has said so (A67)", async () => {
  const page = await pageWithLink();
  await link(page).click();
  await question(page).getByText(host, { exact: true }).waitFor();
  await question(page).getByText(`http://${host}/trap?a=1`, { exact: true }).waitFor();
  await picture(page, "leaving");
  await page.keyboard.press("Escape");
  await question(page).waitFor({ state: "detached" });
  await link(page).click({ button: "middle" });
  await question(page).getByRole("button", { name: "Stay here" }).click();
  await question(page).waitFor({ state: "detached" });
  expect([page.context().pages().length, visited()]).toEqual([1, []]);
  // By the keyboard: the link, then what the dialog has its focus on.
  await link(page).focus();
  await page.keyboard.press("Enter");
  await question(page).waitFor();
  const opened = page.waitForEvent("popup");
  await page.keyboard.press("Enter");
  expect(await (await opened).evaluate(() => [document.referrer, window.opener])).toEqual(["", null]);
  await question(page).waitFor({ state: "detached" });
  expect(visited()).toEqual(["/trap?a=1"]);
});

test("a host that is not to be asked for again is opened at once, also after a reload (A67)", async () => {
  const page = await pageWithLink({ size: "phone" });
  await link(page).click();
  await question(page).getByLabel(`Do not ask again for ${host}`).check();
  await picture(page, "leaving-phone");
  const first = page.waitForEvent("popup");
  await question(page).getByRole("link", { name: "Open" }).click();
  await first;
  await page.reload();
  const second = page.waitForEvent("popup");
  await link(page).click();
  await second;
  expect(await question(page).count()).toBe(0);
  await expect.poll(visited).toHaveLength(2);
});

test("the hosts that are not asked about are in the settings, and can be asked about again", async () => {
  const page = await pageWithLink();
  await link(page).click();
  await question(page).getByLabel(`Do not ask again for ${host}`).check();
  const opened = page.waitForEvent("popup");
  await question(page).getByRole("link", { name: "Open" }).click();
  await opened;
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("main").getByText(host, { exact: true }).waitFor();
  await picture(page, "settings-links");
  await page.getByRole("button", { name: `Ask again for ${host}` }).click();
  await page.getByRole("main").getByText(host, { exact: true }).waitFor({ state: "detached" });
  await page.goBack();
  await link(page).click();
  await question(page).waitFor();
});
