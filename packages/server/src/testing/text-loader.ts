import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { AgentError, defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { DataLoader, LoadedData, LoadRequest, SkippedItem } from "../own-data/loader.ts";

export type TextLoaderOptions = {
  /** Called for each file; the load waits for it. */
  onFile?(name: string, request: LoadRequest): Promise<void> | void;
  onClose?(name: string): void;
  /** Called when the agent reads the texts; the call waits for it. */
  onRead?(): Promise<void> | void;
  readonly needsApproval?: boolean;
};

/** A small real loader: reads text files, and answers every message with what they say. */
export function textLoader(options: TextLoaderOptions = {}): DataLoader {
  const { onFile } = options;
  return {
    description: "text files",
    extensions: [".txt"],
    acceptsFolders: true,
    schemes: ["notes:"],
    settings: { case: "lower or upper" },
    async load(request) {
      const files = (await Promise.all(request.locations.map(listFiles))).flat();
      const texts = new Map<string, string>();
      const skipped: SkippedItem[] = [];
      for (const [done, file] of files.entries()) {
        const item = basename(file);
        request.onProgress({ done, total: files.length, item });
        await onFile?.(item, request);
        request.signal.throwIfAborted();
        if (extname(file) === ".txt") texts.set(item, await readFile(file, "utf8"));
        else skipped.push({ item, reason: `${extname(file)} files are not read.` });
      }
      if (texts.size === 0) throw new AgentError("invalid_input", `No text file in ${request.title}.`);
      return buildLoaded(request, { ...options, texts, skipped });
    },
  };
}

type ReadTexts = TextLoaderOptions & {
  readonly texts: ReadonlyMap<string, string>;
  readonly skipped: readonly SkippedItem[];
};

function buildLoaded({ name, title }: LoadRequest, read: ReadTexts): LoadedData {
  const { texts, skipped, onRead, onClose, needsApproval = false } = read;
  const readTexts = defineTool({
    ...{ name: "read_texts", description: "Reads all texts", input: { type: "object" }, effects: "none" },
    ...(needsApproval && { needsApproval }),
    async execute() {
      await onRead?.();
      return [...texts.values()].join("\n");
    },
  });
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    return last?.type === "result"
      ? { text: String(last.content) }
      : { calls: [{ id: "c1", name: "read_texts" }] };
  });
  return {
    agents: [defineAgent({ name, model, tools: [readTexts] })],
    profile: { title, description: `Reads ${texts.size} texts.` },
    report: () => ({ counts: { texts: texts.size }, skipped }),
    close: async () => onClose?.(name),
  };
}

async function listFiles(location: string): Promise<readonly string[]> {
  if (!(await stat(location)).isDirectory()) return [location];
  const names = await readdir(location, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).toSorted();
}
