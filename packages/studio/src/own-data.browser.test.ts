import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOwnData } from "@capstan/server";
import { defineAgent } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, expect, test } from "vitest";
import { textLoader } from "../../server/src/testing/text-loader.ts";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { sendAndWait } from "./testing/conversation-page.ts";
import { addAndWait, choosePath, dropPaths, openOwnDataDialog } from "./testing/own-data-page.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-studio-data-"));
mkdirSync(join(folder, "trip/day one"), { recursive: true });
writeFileSync(join(folder, "trip/day one/oslo.txt"), "The ferry leaves at nine.");
writeFileSync(join(folder, "trip/photo.jpg"), "");
writeFileSync(join(folder, "empty.txt"), "");

/** Files wait here until the test lets them be read. */
let gate = Promise.withResolvers<void>();
const store = memory();
const model = scriptedModel(() => ({ text: "Hi." }));
const loader = textLoader({
  async onFile(name) {
    if (name === "slow.txt") await gate.promise;
    if (name === "broken.txt") throw new Error("The file is damaged.");
  },
});
const data = openOwnData({
  ...{ store, folder: join(folder, "data") },
  loaders: { texts: loader, pages: { ...textLoader(), description: "pages", extensions: [".txt", ".htm"] } },
});
afterAll(async () => {
  await data.close();
  rmSync(folder, { recursive: true });
});

const studio = setupStudio(() => ({
  ...{ store, data, dataPaths: true },
  agents: ["texts", "pages"].map((name) => defineAgent({ name, model })),
  about: { texts: { title: "Texts" }, pages: { title: "Pages" } },
}));

test("a dropped file becomes an app of its own: progress, an answer from it, and its removal", async () => {
  gate = Promise.withResolvers();
  const page = await studio.open();
  await page.getByRole("button", { name: "Use your own data… in Texts" }).waitFor();
  writeFileSync(join(folder, "slow.txt"), "The harbour opens at six.");
  writeFileSync(join(folder, "picture.png"), "");
  await dropPaths(page.locator("#main"), [join(folder, "slow.txt"), join(folder, "picture.png")]);
  // Both apps read it.
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("App").selectOption("Texts");
  await dialog.getByText("1 of other types will not be uploaded (.png)").waitFor();
  await dialog.getByText("Options").click();
  await dialog.getByLabel("case").fill("lower");
  await dialog.getByRole("button", { name: "Add", exact: true }).first().click();
  await dialog.getByRole("progressbar", { name: "Reading slow" }).waitFor();
  await dialog.getByText("Reading 0 of 1: slow.txt").waitFor();
  expect((await data.list())[0]?.settings).toEqual({ case: "lower" });
  await takePicture(page, "own-data-loading");
  gate.resolve();
  await dialog.getByText("1 text", { exact: true }).waitFor();
  await assertAccessible(page);
  await dialog.getByRole("link", { name: "Open" }).click();
  await page.getByRole("link", { name: "slow, own data" }).waitFor();
  await sendAndWait(page, "When does the harbour open?");
  await page.getByText("The harbour opens at six.").first().waitFor();

  await page.getByRole("button", { name: "Use your own data in Texts" }).click();
  await dialog.getByRole("button", { name: "Remove slow" }).click();
  await page.getByRole("dialog", { name: "Remove slow?" }).getByRole("button", { name: "Remove" }).click();
  await page.getByRole("link", { name: "slow, own data" }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByText("The harbour opens at six.").first().waitFor(); // the session is still there
  expect(await data.list()).toEqual([]);
});

test("a chosen folder, a path that fails and one that is retried are listed with what was skipped and why", async () => {
  const page = await studio.open("/", { size: "phone", theme: "dark", expects: [/400 \(Bad Request\)/] });
  const dialog = await openOwnDataDialog(page, "Texts");
  await choosePath(dialog, join(folder, "trip"), "Folder");
  await dialog.getByText("1 file (1 kB); 1 of other types will not be uploaded (.jpg)").waitFor();
  await addAndWait(dialog, "trip");

  writeFileSync(join(folder, "broken.txt"), "");
  await dialog
    .getByLabel("Or enter a path on this machine or an address (notes:)")
    .fill(join(folder, "none.txt"));
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("not found. Check the path.").waitFor();
  await dialog.getByLabel(/Or enter a path/).fill(join(folder, "broken.txt"));
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByText('Cannot load "broken": The file is damaged.').waitFor();
  await takePicture(page, "own-data-phone-dark");
  await assertAccessible(page);
});
