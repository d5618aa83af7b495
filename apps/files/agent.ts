// A chat about the files in a folder. The tools come from `fileTools` and `gitStatus`; this file sets the folder, the
// instructions and the policy.
import { join } from "node:path";
import { fileTools, gitStatus, isGitRepository } from "@capstan/tools";
import { type Agent, defineAgent, type Model, type PolicyOverrides } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { defaultModel, keyState } from "capstan/models";
import { withExamples } from "./tool-examples.ts";
import { ensureSampleWorkspace } from "./workspace.ts";

export type FilesOptions = {
  readonly name?: string;
  /** Defaults to gpt-4o if there is a key for OpenAI, else to the first available one, see `defaultModel`. */
  readonly model?: Model | string;
  /** The folder to work in. Defaults to a copy of the sample. */
  readonly root?: string;
  /** Where earlier contents are kept for `undo_change`. Defaults to `file-changes` in Capstan's data folder. */
  readonly undoFolder?: string;
  /** Remembers the session and limits the number of turns, as the studio needs it. */
  readonly studio?: boolean;
};

export const about = {
  title: "Files chat",
  picture: "files",
  description:
    "Lists, searches and reads the files in a folder, and changes them after you approve the diff. Changes can be undone.",
  suggestions: [
    "What files are in the workspace and what's in sample.txt?",
    "Search for config in all files",
    "Add a docstring to greet in example.py",
    "Read ../secret",
  ],
} as const;

/** Runs until the model stops calling tools. The client sends the history with each request. */
export const policy: PolicyOverrides = {
  maxTurns: "unlimited",
  wrapUpAt: 0,
  finalTurn: "keep-tools",
  onLimit: ["best-effort"],
  toolExecution: "sequential",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  maxToolResultSize: "unlimited",
  memory: "client",
  requireToolFirst: false,
  summaries: false,
};

export const studioPolicy: PolicyOverrides = { ...policy, maxTurns: 25, memory: "session" };

const instructions = `You help with the files in one folder, the workspace. All paths are relative to it.
Look before you answer: list, search or read, and report only what the tools returned, with the paths.
Read a file before you change it. Change a part with edit_file; use write_file for new files.
The user has to approve every change. If they do not, leave the file as it is and say so. undo_change takes a change back.
When a tool fails, explain why in plain language, and correct the call if that can help. You cannot access anything outside the workspace.`;

export async function files(options: FilesOptions = {}): Promise<Agent> {
  const { name = "files", model = await chooseModel(), studio = false } = options;
  const { root = ensureSampleWorkspace(), undoFolder = join(dataFolder(), "file-changes") } = options;
  const git = (await isGitRepository(root)) ? [gitStatus({ root })] : [];
  return defineAgent({
    name,
    model,
    instructions,
    tools: [...fileTools({ root, undo: { folder: undoFolder } }).map(withExamples), ...git],
    policy: studio ? studioPolicy : policy,
  });
}

const usualModel = "openai/gpt-4o";

/** The models that a request can name: gpt-4o, if there is a key for OpenAI. */
export function listModels(): readonly string[] {
  return keyState(usualModel, process.env).type === "set" ? [usualModel] : [];
}

/** `CAPSTAN_MODEL` takes precedence. */
async function chooseModel(): Promise<Model | string> {
  const [model] = process.env.CAPSTAN_MODEL ? [] : listModels();
  return model ?? defaultModel();
}
