import { type Event, getCalls, type Result } from "capstan";
import { restartsMessage } from "capstan/client";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { createProgressWriter, type ScriptOutput } from "./script-output.ts";

/** Streams the model's text to a terminal, with progress between its lines. */
export function createTerminalOutput(io: Io): ScriptOutput {
  const text = createTextWriter(io);
  const writeProgress = createProgressWriter(io, text.endLine);
  /** The text of finished messages, and of the current one. */
  let [finished, current] = ["", ""];
  const handleMessage = (event: Event) => {
    if (event.type === "content_delta") {
      current += event.delta;
      text.write(event.delta);
    } else if (event.type === "message" || event.type === "message_partial") {
      finished += current;
      current = "";
      if (event.type === "message" && getCalls(event.entry).length > 0) text.endLine();
    } else if (restartsMessage(event) && current !== "") {
      current = "";
      text.endLine();
      // Printed text cannot be removed, so a line below it marks it as discarded.
      io.stderr.write("· Discarded the incomplete answer above.\n");
    }
  };
  return {
    writeEvent(event) {
      if (event.parentRunId === undefined) handleMessage(event);
      writeProgress(event);
    },
    writeResult({ status, text: answer }: Result) {
      const isAnswer = status === "done" || status === "limit";
      if (isAnswer && !finished.trimEnd().endsWith(answer.trimEnd())) {
        text.endLine();
        text.write(answer.trimEnd());
      }
      text.endLine();
    },
    writeFailure: text.endLine,
  };
}

type TextWriter = { write(piece: string): void; endLine(): void };

function createTextWriter({ stdout }: Io): TextWriter {
  let isLineOpen = false;
  /** The first half of a character whose second half is in the next piece. */
  let half = "";
  return {
    write(piece) {
      const whole = half + piece;
      half = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      const shown = escapeTerminal(whole.slice(0, whole.length - half.length));
      if (shown === "") return;
      stdout.write(shown);
      isLineOpen = !shown.endsWith("\n");
    },
    endLine() {
      if (isLineOpen) stdout.write("\n");
      isLineOpen = false;
    },
  };
}
