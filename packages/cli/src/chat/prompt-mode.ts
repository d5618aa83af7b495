import type { Io } from "../io.ts";
import { type Candidate, fileCandidates } from "../terminal/completion.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";
import type { Key } from "../terminal/keys.ts";
import { type Prompt, prompt } from "../terminal/prompt.ts";
import type { PromptHistory } from "../terminal/prompt-history.ts";
import { shortened } from "../terminal/wrap.ts";
import type { Conversation } from "./conversation.ts";
import { duration } from "./format-usage.ts";
import { slashCommands } from "./slash-commands.ts";
import { spinner } from "./tool-card.ts";
import type { Transcript } from "./transcript.ts";
import type { Mode, View } from "./view.ts";

export type PromptModeParts = {
  readonly view: View;
  readonly history: PromptHistory;
  readonly io: Io;
  submit(text: string): void;
  stop(): void;
  /** Stops what is under way, and ends the chat. */
  leave(): void;
  unfold(): void;
  isRunning(): boolean;
  /** Below the prompt. */
  footer(): string;
};

/** The prompt, and what others need to know of it. */
export type PromptMode = Mode & {
  lastKeyAt(): number;
  /** Puts a text back to where it was typed, before what is there. */
  putBack(text: string): void;
};

/** A second Ctrl-C within this time leaves. */
const leaveMs = 2000;

/** The prompt at the bottom, and what the keys mean there. */
export function promptMode(parts: PromptModeParts): PromptMode {
  const { view, history, io } = parts;
  const { style } = view;
  const own = prompt(history.entries);
  let lastKeyAt = 0;
  let armedAt = 0;

  function interrupt(): void {
    if (parts.isRunning()) parts.stop();
    else if (own.text !== "") own.set("");
    else if (Date.now() - armedAt < leaveMs) parts.leave();
    else {
      armedAt = Date.now();
      setTimeout(view.redraw, leaveMs + 50).unref();
    }
  }
  /** True when the key is none for the editor. */
  function command(name: string): boolean {
    if (name === "ctrl+c") interrupt();
    else if (name === "ctrl+d" && own.text === "") parts.leave();
    else if (name === "ctrl+o") parts.unfold();
    else if (name === "ctrl+z") view.suspend();
    else return false;
    return true;
  }
  function submit(text: string): void {
    if (text.trim() === "") return;
    lastKeyAt = 0; // what comes next is not interrupted typing
    void history.add(text);
    parts.submit(text.trim());
  }

  return {
    lastKeyAt: () => lastKeyAt,
    putBack: (text) => own.set([text, own.text].filter(Boolean).join("\n")),
    press(key: Key) {
      lastKeyAt = Date.now();
      if (key.type !== "press" || key.name !== "ctrl+c") armedAt = 0;
      if (key.type === "press" && command(key.name)) return;
      const used = own.press(key);
      if (typeof used === "object") submit(used.submitted);
      else if (used === "unused" && key.type === "press" && key.name === "escape" && parts.isRunning())
        parts.stop();
      void offer(own, io, view);
    },
    render(columns) {
      const hint = parts.isRunning() ? "Say more to steer it" : "Ask anything, /help for commands";
      const { rows, cursor } = own.render(columns, { style, mark: style.cyan("› "), hint });
      const isArmed = Date.now() - armedAt < leaveMs;
      const below = isArmed ? "Ctrl-C again to leave" : harmlessLine(parts.footer());
      return { rows: [...rows, "", style.dim(`  ${shortened(below, columns - 2)}`)], cursor };
    },
  };
}

/** Looks up what the word at the cursor could be. */
async function offer(own: Prompt, io: Io, view: View): Promise<void> {
  const { wanted } = own;
  if (!wanted) return;
  const { kind, word } = wanted;
  if (kind === "command") own.offer(word, commandCandidates(word));
  else {
    own.offer(word, await fileCandidates(io.cwd, word));
    view.redraw();
  }
}

function commandCandidates(word: string): Candidate[] {
  return slashCommands
    .filter(({ name }) => `/${name}`.startsWith(word))
    .map(({ name, about }) => ({ text: `/${name}`, about }));
}

/** What is shown above the prompt: what is being said and done, what waits to be heard, and that work goes on. */
export function liveRows(shown: {
  readonly conversation: Conversation;
  readonly transcript: Transcript;
  readonly view: View;
  readonly columns: number;
}): string[] {
  const { conversation, transcript, view, columns } = shown;
  const { talk } = conversation;
  const { style } = view;
  // Only the question counts while there is one.
  if (talk?.isAsking) return [];
  const rows = transcript.live(columns);
  if (!talk) return rows;
  const queued = talk.queued.map((text) =>
    style.dim(`› ${shortened(harmlessLine(text), columns - 12)} (next)`),
  );
  const now = Date.now();
  const what = transcript.activity || "working";
  const line = shortened(`${what} ${duration(now - talk.startedAt)} · Esc stops`, columns - 2);
  return [
    ...rows,
    ...(queued.length > 0 ? ["", ...queued] : []),
    "",
    `${style.cyan(spinner(now))} ${style.dim(line)}`,
  ];
}
