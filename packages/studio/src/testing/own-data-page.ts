import type { Locator, Page } from "playwright-core";

/** Drops files and folders of this machine on the page, as from a file manager. */
export async function dropPaths(target: Locator, paths: readonly string[]): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error("Files can only be dropped on something visible.");
  const input = await target.page().context().newCDPSession(target.page());
  const place = { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, 20) };
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await input.send("Input.dispatchDragEvent", { type, ...place, data });
  await input.detach();
}

/** Opens the dialog of an app by the button on its card. */
export async function openOwnDataDialog(page: Page, appTitle: string): Promise<Locator> {
  const cards = page.getByRole("region", { name: "Agents" });
  await cards.getByRole("button", { name: `Use your own data… in ${appTitle}` }).click();
  return page.getByRole("dialog");
}

/** Chooses files or a folder of this machine in the dialog. A folder is uploaded with everything in it. */
export async function choosePath(dialog: Locator, path: string, kind: "Files" | "Folder"): Promise<void> {
  await dialog.getByLabel(kind, { exact: true }).setInputFiles(path);
}

/** Confirms the chosen files under their suggested name, and waits until they are loaded. */
export async function addAndWait(dialog: Locator, title: string): Promise<Locator> {
  await dialog.getByRole("button", { name: "Add", exact: true }).first().click();
  const item = dialog.getByRole("listitem").filter({ hasText: title });
  await item.getByRole("link", { name: "Open" }).waitFor();
  return item;
}

/** Adds the dropped files under their suggested name, waits until the list says what was read, and starts a chat. */
export async function addAndOpen(page: Page, title: string, count: string): Promise<void> {
  const item = await addAndWait(page.getByRole("dialog"), title);
  await item.getByText(count).waitFor();
  await item.getByRole("link", { name: "Open" }).click();
  const entry = page
    .getByRole("navigation", { name: "Apps" })
    .getByRole("link", { name: `${title}, own data` });
  await entry.and(page.locator("[aria-current=page]")).waitFor();
}
