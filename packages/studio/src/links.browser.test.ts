import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeEach, expect, test } from "vitest";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { getTranscript, sendAndWait, skipMisclickGuard, stopClock } from "./testing/conversation-page.ts";

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
const studio = setupStudio(() => ({ agents: [defineAgent({ name: "guide", model })] }));

const getLink = (page: Page): Locator =>
  getTranscript(page).getByRole("link", { name: "https://bank.example" });
const getConfirmation = (page: Page): Locator => page.getByRole("dialog", { name: "Open this link?" });
const listVisits = () => visits.filter((path) => path.startsWith("/trap"));

async function openPageWithLink(look: { readonly size?: "phone" } = {}): Promise<Page> {
  const page = await studio.open("/", look);
  await sendAndWait(page, "Where do I sign in?");
  await getLink(page).waitFor();
  return page;
}

test("a link in an answer shows its target and opens only after confirmation (A67)", async () => {
  const page = await openPageWithLink();
  await getLink(page).click();
  await getConfirmation(page).getByText(host, { exact: true }).waitFor();
  await getConfirmation(page).getByText(`http://${host}/trap?a=1`, { exact: true }).waitFor();
  await takePicture(page, "leaving");
  await page.keyboard.press("Escape");
  await getConfirmation(page).waitFor({ state: "detached" });
  await getLink(page).click({ button: "middle" });
  await getConfirmation(page).getByRole("button", { name: "Cancel" }).click();
  await getConfirmation(page).waitFor({ state: "detached" });
  expect([page.context().pages().length, listVisits()]).toEqual([1, []]);
  // By the keyboard: the link, then what the dialog has its focus on.
  await getLink(page).focus();
  await stopClock(page);
  await page.keyboard.press("Enter");
  await getConfirmation(page).waitFor();
  await page.keyboard.press("Enter"); // too soon
  await getConfirmation(page).waitFor();
  expect([page.context().pages().length, listVisits()]).toEqual([1, []]);
  await skipMisclickGuard(page);
  const opened = page.waitForEvent("popup");
  await page.keyboard.press("Enter");
  expect(await (await opened).evaluate(() => [document.referrer, window.opener])).toEqual(["", null]);
  await getConfirmation(page).waitFor({ state: "detached" });
  expect(listVisits()).toEqual(["/trap?a=1"]);
});

test("links to a trusted host open at once, also after a reload (A67)", async () => {
  const page = await openPageWithLink({ size: "phone" });
  await getLink(page).click();
  await getConfirmation(page).getByLabel(`Always open links to ${host}`).check();
  await skipMisclickGuard(page);
  await takePicture(page, "leaving-phone");
  const first = page.waitForEvent("popup");
  await getConfirmation(page).getByRole("link", { name: "Open" }).click();
  await first;
  await page.reload();
  const second = page.waitForEvent("popup");
  await getLink(page).click();
  await second;
  await expect.poll(() => getConfirmation(page).count()).toBe(0);
  await expect.poll(listVisits).toHaveLength(2);
});

test("trusted hosts are listed in the settings and can be removed", async () => {
  const page = await openPageWithLink();
  await getLink(page).click();
  await getConfirmation(page).getByLabel(`Always open links to ${host}`).check();
  await skipMisclickGuard(page);
  const opened = page.waitForEvent("popup");
  await getConfirmation(page).getByRole("link", { name: "Open" }).click();
  await opened;
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("main").getByText(host, { exact: true }).waitFor();
  await takePicture(page, "settings-links");
  await page.getByRole("button", { name: `Ask again for ${host}` }).click();
  await page.getByRole("main").getByText(host, { exact: true }).waitFor({ state: "detached" });
  await page.goBack();
  await getLink(page).click();
  await getConfirmation(page).waitFor();
});
