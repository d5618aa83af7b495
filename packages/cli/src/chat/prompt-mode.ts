import type { Io } from "../io.ts";
import { type Candidate, listFileCandidates } from "../terminal/completion.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { Key } from "../terminal/keys.ts";
import { createPrompt, type Prompt } from "../terminal/prompt.ts";
import type { PromptHistory } from "../terminal/prompt-history.ts";
import { truncateColumns } from "../terminal/wrap.ts";
import type { Conversation } from "./conversation.ts";
import { formatDuration } from "./format-usage.ts";
import { slashCommands } from "./slash-commands.ts";
import { getSpinnerFrame } from "./tool-card.ts";
import type { Transcript } from "./transcript.ts";
import type { Mode, View } from "./view.ts";

export type PromptModeOptions = {
  readonly view: View;
  readonly history: PromptHistory;
  readonly io: Io;
  submit(text: string): void;
  stop(): void;
  /** Stops the run and ends the chat. */
  leave(): void;
  showFolded(): void;
  isRunning(): boolean;
  /** Text below the prompt. */
  getFooter(): string;
};

/** The prompt as a mode of the view. */
export type PromptMode = Mode & {
  lastKeyAt(): number;
  /** Puts a text back into the prompt, before the current text. */
  restoreText(text: string): void;
};

/** A second Ctrl-C within this time exits. */
const exitWindowMs = 2000;

/** Creates the prompt at the bottom, with its keys. */
export function createPromptMode(options: PromptModeOptions): PromptMode {
  const { view, history, io } = options;
  const { style } = view;
  const prompt = createPrompt(history.entries);
  let lastKeyAt = Number.NEGATIVE_INFINITY;
  let interruptedAt = Number.NEGATIVE_INFINITY;

  function interrupt(): void {
    if (options.isRunning()) options.stop();
    else if (prompt.text !== "") prompt.setText("");
    else if (performance.now() - interruptedAt < exitWindowMs) options.leave();
    else {
      interruptedAt = performance.now();
      setTimeout(view.redraw, exitWindowMs + 50).unref();
    }
  }
  /** Returns true when the key was a shortcut. */
  function runShortcut(name: string): boolean {
    if (name === "ctrl+c") interrupt();
    else if (name === "ctrl+d" && prompt.text === "") options.leave();
    else if (name === "ctrl+o") options.showFolded();
    else if (name === "ctrl+z") view.suspend();
    else return false;
    return true;
  }
  function submit(text: string): void {
    if (text.trim() === "") return;
    lastKeyAt = Number.NEGATIVE_INFINITY; // the next key is not interrupted typing
    void history.add(text);
    options.submit(text.trim());
  }

  return {
    lastKeyAt: () => lastKeyAt,
    restoreText: (text) => prompt.setText([text, prompt.text].filter(Boolean).join("\n")),
    pressKey(key: Key) {
      lastKeyAt = performance.now();
      if (key.type !== "press" || key.name !== "ctrl+c") interruptedAt = Number.NEGATIVE_INFINITY;
      if (key.type === "press" && runShortcut(key.name)) return;
      const used = prompt.pressKey(key);
      if (typeof used === "object") submit(used.submitted);
      else if (used === "unused" && key.type === "press" && key.name === "escape" && options.isRunning())
        options.stop();
      void updateCandidates(prompt, io, view);
    },
    render(columns) {
      const hint = options.isRunning() ? "Type to steer the run" : "Ask anything, /help for commands";
      const { rows, cursor } = prompt.render(columns, { style, mark: style.cyan("› "), hint });
      const isArmed = performance.now() - interruptedAt < exitWindowMs;
      const below = isArmed ? "Press Ctrl-C again to exit" : escapeTerminalLine(options.getFooter());
      return { rows: [...rows, "", style.dim(`  ${truncateColumns(below, columns - 2)}`)], cursor };
    },
  };
}

/** Looks up completions of the word at the cursor. */
async function updateCandidates(prompt: Prompt, io: Io, view: View): Promise<void> {
  const { completionTarget: wanted } = prompt;
  if (!wanted) return;
  const { kind, word } = wanted;
  if (kind === "command") prompt.setCandidates(word, findCommandCandidates(word));
  else {
    prompt.setCandidates(word, await listFileCandidates(io.cwd, word));
    view.redraw();
  }
}

function findCommandCandidates(word: string): Candidate[] {
  return slashCommands
    .filter(({ name }) => `/${name}`.startsWith(word))
    .map(({ name, about }) => ({ text: `/${name}`, about }));
}

/** Renders the rows above the prompt: live output, queued messages and the spinner. */
export function renderLiveRows(shown: {
  readonly conversation: Conversation;
  readonly transcript: Transcript;
  readonly view: View;
  readonly columns: number;
}): string[] {
  const { conversation, transcript, view, columns } = shown;
  const { activeRun } = conversation;
  const { style } = view;
  // While a question is open, only the question is shown.
  if (activeRun?.isAsking) return [];
  const rows = transcript.renderLive(columns);
  if (!activeRun) return rows;
  const queued = activeRun.queued.map((text) =>
    style.dim(`› ${truncateColumns(escapeTerminalLine(text), columns - 12)} (next)`),
  );
  const now = performance.now();
  const what = transcript.activity || "working";
  const line = truncateColumns(
    `${what} ${formatDuration(now - activeRun.startedAt)} · Esc stops`,
    columns - 2,
  );
  return [
    ...rows,
    ...(queued.length > 0 ? ["", ...queued] : []),
    "",
    `${style.cyan(getSpinnerFrame(now))} ${style.dim(line)}`,
  ];
}
