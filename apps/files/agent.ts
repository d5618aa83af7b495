// A chat about the files of one folder. What it can do comes from `fileTools`; this file only decides where, with which
// words and under which policy.
import { fileTools } from "@capstan/tools";
import { type Agent, defineAgent, type Model, type PolicyOverrides } from "capstan";
import { defaultModel } from "capstan/models";
import { withWords } from "./words.ts";
import { sampleWorkspace } from "./workspace.ts";

export type FilesOptions = {
  /** By default the first one that is there: see `defaultModel`. */
  readonly model?: Model | string;
  /** The folder to work in; by default a copy of the sample. */
  readonly root?: string;
  /** In the studio sessions are kept, and a run that goes astray ends by itself. */
  readonly studio?: boolean;
};

export const about = {
  title: "Files chat",
  description:
    "Lists, searches and reads the files of a folder, and changes them when you agree to the diff.",
  suggestions: [
    "What files are in the workspace and what's in sample.txt?",
    "Search for config in all files",
    "Add a docstring to greet in example.py",
    "Read ../secret",
  ],
} as const;

/** As long as the model wants tools it goes on, and whoever asks brings the history along. */
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

/** The same where people sit in front of it. */
export const studioPolicy: PolicyOverrides = { ...policy, maxTurns: 25, memory: "session" };

const instructions = `You help with the files of one folder, the workspace. All paths are relative to it.
Look before you answer: list, search or read, and say only what the tools told you, with the paths.
Read a file before you change it. Change a part with edit_file; use write_file for new files.
A person agrees to every change first. When they do not, leave the file as it is and say so.
When a tool fails, say why in plain words, and correct the call if that can help. What is outside of the workspace you cannot reach.`;

/** An agent for the files of one folder. */
export async function files(options: FilesOptions = {}): Promise<Agent> {
  const { model = await defaultModel(), root = sampleWorkspace(), studio = false } = options;
  return defineAgent({
    name: "files",
    model,
    instructions,
    tools: fileTools({ root }).map(withWords),
    policy: studio ? studioPolicy : policy,
  });
}
