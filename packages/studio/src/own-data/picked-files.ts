import type { DataLoaderInfo } from "capstan/client";

/** A file that the user has chosen or dropped. */
export type PickedFile = {
  /** With `/` between folders, starting with the dropped folder. */
  readonly path: string;
  readonly file: File;
};

/** The server takes no more in one upload. */
const maxFiles = 20_000;

/** Reads dropped files, and the files in dropped folders. */
export async function readDrop(items: DataTransferItemList): Promise<readonly PickedFile[]> {
  // The items are gone after the first await.
  const dropped = [...items]
    .filter(({ kind }) => kind === "file")
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const picked: PickedFile[] = [];
  for (const { entry, file } of dropped)
    if (entry) await collectEntry(entry, picked);
    else if (file) picked.push({ path: file.name, file });
  return picked;
}

async function collectEntry(entry: FileSystemEntry, picked: PickedFile[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  if (isHidden(path) || picked.length >= maxFiles) return;
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    picked.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // Returns the next 100, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return;
    for (const child of entries) await collectEntry(child, picked);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

/** Returns the files of a file input; of a folder, with their paths in it. */
export function readInput(files: FileList | null): readonly PickedFile[] {
  return [...(files ?? [])]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .filter(({ path }) => !isHidden(path))
    .slice(0, maxFiles);
}

/** Whether a path is in a hidden folder or in one of installed packages. */
function isHidden(path: string): boolean {
  return path.split("/").some((name) => name.startsWith(".") || name === "node_modules");
}

export type Selection = {
  readonly accepted: readonly PickedFile[];
  /** Extensions of the others. */
  readonly otherExtensions: readonly string[];
  readonly otherCount: number;
};

/** Selects the files that an app reads. An app without extensions reads all files of a folder. */
export function selectFiles(
  files: readonly PickedFile[],
  { extensions, acceptsFolders }: DataLoaderInfo,
): Selection {
  const isRead = ({ path }: PickedFile) => {
    const isInFolder = path.includes("/");
    if (isInFolder && !acceptsFolders) return false;
    return extensions.length === 0 ? isInFolder : extensions.includes(getExtension(path));
  };
  const accepted = files.filter(isRead);
  const others = files.filter((file) => !isRead(file));
  const otherExtensions = [...new Set(others.map(({ path }) => getExtension(path) || "no extension"))];
  return { accepted, otherExtensions: otherExtensions.toSorted(), otherCount: others.length };
}

/** Returns the apps that read at least one of the files. */
export function findAcceptingApps(
  files: readonly PickedFile[],
  apps: readonly DataLoaderInfo[],
): readonly DataLoaderInfo[] {
  return apps.filter((app) => selectFiles(files, app).accepted.length > 0);
}

function getExtension(path: string): string {
  return /[^/](\.[^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** Returns a name for the data: of the folder, of the only file, or of the first. */
export function suggestTitle(files: readonly PickedFile[]): string {
  const [first] = files;
  if (!first) return "";
  const tops = new Set(files.map(({ path }) => path.split("/")[0] ?? ""));
  const name = first.path.split("/")[0] ?? "";
  const isFolder = first.path.includes("/");
  const plain = isFolder ? name : name.slice(0, name.length - getExtension(name).length) || name;
  return tops.size > 1 ? `${plain} and ${tops.size - 1} more` : plain;
}
