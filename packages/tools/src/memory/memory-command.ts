import { AgentError } from "capstan";
import {
  changeMemories,
  findMemory,
  isWithin,
  loadMemories,
  type Memory,
  type MemoryChange,
  type NewMemory,
  parseFilePath,
  parseMemoryPath,
  pickLessTrusted,
  withoutMemory,
} from "capstan/memories";
import { formatFolder, formatMemory } from "./format-memories.ts";
import type { MemoryContext } from "./memory-context.ts";
import type { MemoryResult } from "./memory-result.ts";

/** The arguments of the tool `memory`: those of all commands, as Anthropic's memory tool has them. */
export type MemoryInput = {
  command: "view" | "create" | "str_replace" | "insert" | "delete" | "rename";
  path?: string;
  view_range?: number[];
  file_text?: string;
  old_str?: string;
  new_str?: string;
  insert_line?: number;
  insert_text?: string;
  old_path?: string;
  new_path?: string;
};

/** A change, and the result of the call. The result is the same when a call is repeated that was applied before. */
type Edit = { readonly change: MemoryChange; readonly result: string };

/** Executes a command. Throws `invalid_input` or `not_found`, for the model to correct the call. */
export async function executeMemoryCommand(
  input: MemoryInput,
  context: MemoryContext,
): Promise<MemoryResult> {
  const { records, owner, now, idempotencyKey } = context;
  if (input.command === "view") return viewMemories(input, await loadMemories(records, owner));
  const { change, result } = buildEdit(input, context);
  await changeMemories(records, owner, { change, now, idempotencyKey });
  return { content: result };
}

function viewMemories({ path, view_range: range }: MemoryInput, memories: readonly Memory[]): MemoryResult {
  const viewed = parseMemoryPath(requireField("path", path));
  const memory = memories.find((other) => other.path === viewed);
  if (memory) return formatMemory(memory, range);
  const isFolder =
    viewed === parseMemoryPath("/memories") || memories.some((other) => isWithin(other.path, viewed));
  if (!isFolder) findMemory(memories, viewed);
  return formatFolder(viewed, memories);
}

function buildEdit(input: MemoryInput, { provenance }: MemoryContext): Edit {
  switch (input.command) {
    case "create": {
      const path = parseFilePath(requireField("path", input.path));
      const memory = { path, text: requireField("file_text", input.file_text), provenance };
      return {
        change: (memories) => addMemory(memories, memory),
        result: `File created successfully at: ${path}`,
      };
    }
    case "str_replace": {
      const oldText = requireField("old_str", input.old_str);
      const newText = input.new_str ?? "";
      return editMemory(input, provenance, (memory) => replaceText(memory, oldText, newText));
    }
    case "insert":
      return insertText(input, provenance);
    case "delete": {
      const path = parseFilePath(requireField("path", input.path));
      return { change: (memories) => withoutMemory(memories, path), result: `Successfully deleted ${path}` };
    }
    case "rename": {
      const from = parseFilePath(requireField("old_path", input.old_path));
      const to = parseFilePath(requireField("new_path", input.new_path));
      const result = `Successfully renamed ${from} to ${to}`;
      return { change: (memories) => moveMemories(memories, from, to), result };
    }
    case "view":
      throw new AgentError("invalid_input", "view changes nothing.");
  }
}

function requireField<Value>(name: string, value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new AgentError("invalid_input", `The command needs \`${name}\`.`);
}

function addMemory(memories: readonly Memory[], memory: NewMemory): readonly (Memory | NewMemory)[] {
  if (!memories.some(({ path }) => path === memory.path)) return [...memories, memory];
  const message = `File ${memory.path} already exists. View it, and change it with str_replace or insert.`;
  throw new AgentError("invalid_input", message);
}

/** Edits one memory. Its author becomes the less trustworthy one of the text before and the text that is added. */
function editMemory(
  { path: given }: MemoryInput,
  provenance: Memory["provenance"],
  edit: (memory: Memory) => string,
): Edit {
  const path = parseFilePath(requireField("path", given));
  const change: MemoryChange = (memories) => {
    const memory = findMemory(memories, path);
    const edited = {
      ...{ path, text: edit(memory) },
      provenance: pickLessTrusted(memory.provenance, provenance),
    };
    return memories.map((other) => (other === memory ? edited : other));
  };
  return { change, result: `The memory file ${path} has been edited.` };
}

function replaceText({ path, text }: Memory, oldText: string, newText: string): string {
  const [before, after, ...others] = oldText === "" ? [text] : text.split(oldText);
  if (before !== undefined && after !== undefined && others.length === 0) return before + newText + after;
  const problem =
    after === undefined ? "old_str does not occur" : `old_str occurs ${others.length + 2} times, not once,`;
  throw new AgentError(
    "invalid_input",
    `No replacement was performed: ${problem} in ${path}. View it first.`,
  );
}

/** Inserts lines. The first line of a memory that does not exist creates it, which saves a model the question whether it does. */
function insertText(input: MemoryInput, provenance: Memory["provenance"]): Edit {
  const line = requireField("insert_line", input.insert_line);
  const inserted = requireField("insert_text", input.insert_text).replace(/\n$/, "");
  const path = parseFilePath(requireField("path", input.path));
  const edit = editMemory(input, provenance, ({ text }) => {
    const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
    if (!Number.isInteger(line) || line < 0 || line > lines.length) {
      const message = `Invalid insert_line ${line}: ${path} has ${lines.length} lines, so use 0 to ${lines.length}.`;
      throw new AgentError("invalid_input", message);
    }
    return `${lines.toSpliced(line, 0, inserted).join("\n")}\n`;
  });
  const change: MemoryChange = (memories) =>
    line === 0 && !memories.some((memory) => memory.path === path)
      ? [...memories, { path, text: `${inserted}\n`, provenance }]
      : edit.change(memories);
  return { ...edit, change };
}

function moveMemories(memories: readonly Memory[], from: string, to: string): readonly Memory[] {
  const others = withoutMemory(memories, from);
  const moved = memories.filter((memory) => !others.includes(memory));
  const taken = others.find(({ path }) => isWithin(path, to));
  if (taken || isWithin(to, from)) {
    const problem = taken ? "already exists" : `is ${from} itself or inside it`;
    throw new AgentError("invalid_input", `The destination ${to} ${problem}: choose another path.`);
  }
  return [...others, ...moved.map((memory) => ({ ...memory, path: to + memory.path.slice(from.length) }))];
}
