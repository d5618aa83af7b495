import type { Locator, Page } from "playwright-core";

/** A file to drop: its name or path, and its content. */
export type DroppedFile = { readonly name: string; readonly content: string | Uint8Array };

/** Drops files on the page as from a file manager. A real drag cannot be made by a program. */
export async function dropFiles(target: Locator, files: readonly DroppedFile[]): Promise<void> {
  const encoded = files.map(({ name, content }) => ({
    name,
    base64: Buffer.from(content).toString("base64"),
  }));
  const dataTransfer = await target.page().evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    return transfer;
  }, encoded);
  for (const type of ["dragenter", "dragover", "drop"]) await target.dispatchEvent(type, { dataTransfer });
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
