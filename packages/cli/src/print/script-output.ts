import { type Event, formatMedia, getMedia, isFact, type Result } from "capstan";
import { formatDuration, formatTime } from "../chat/format-usage.ts";
import type { StartFlags } from "../commands/start-flags.ts";
import type { Io } from "../io.ts";
import { createBackgroundWriter } from "../output/background-writer.ts";
import { formatJsonLine } from "../output/format-json.ts";
import { formatOutput } from "../output/format-output.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** Output of a one-shot run. */
export interface ScriptOutput {
  writeEvent(event: Event): void;
  writeResult(result: Result): void;
  /** Writes why there is no result. */
  writeFailure(error: { readonly code: string; readonly message: string }): void;
}

/** Writes data to stdout in whole lines, and progress to stderr. */
export function createScriptOutput({ json, streamJson }: StartFlags, io: Io): ScriptOutput {
  if (streamJson)
    return {
      writeEvent: (event) => void io.stdout.write(formatJsonLine(event)),
      writeResult: () => undefined,
      writeFailure: (error) => void io.stdout.write(formatJsonLine({ type: "error", ...error })),
    };
  const event = createProgressWriter(io);
  if (json)
    return {
      writeEvent: event,
      writeResult: (result) => void io.stdout.write(formatJsonLine(result)),
      writeFailure: (error) => void io.stdout.write(formatJsonLine({ status: "failed", error })),
    };
  return {
    writeEvent: event,
    writeResult: (result) => void io.stdout.write(formatAnswer(result, io)),
    writeFailure: () => undefined,
  };
}

/** Returns the answer; empty for a failed run, whose message goes to stderr. */
function formatAnswer({ status, text, output }: Result, { stdout }: Io): string {
  if (status !== "done" && status !== "limit") return "";
  const answer = output === undefined ? text : JSON.stringify(output);
  return `${formatOutput(answer, stdout).trimEnd()}\n`;
}

/** Writes one line per tool call and per problem. `startLine` is called before each. */
export function createProgressWriter({ stderr }: Io, startLine?: () => void): (event: Event) => void {
  const writeLine = (text: string) => {
    startLine?.();
    stderr.write(`${escapeTerminalLine(text).slice(0, (stderr.columns ?? 120) - 1)}\n`);
  };
  const writeBackground = createBackgroundWriter((line) => writeLine(`· ${line}`));
  return (event) => {
    writeBackground(event);
    if (event.type === "retry")
      writeLine(`· Attempt ${event.attempt + 1} in ${formatDuration(event.waitMs)}: ${event.message}`);
    if (event.type === "waiting" && event.until !== undefined)
      writeLine(`· Waiting for the model provider. Next attempt at ${formatTime(event.until)}.`);
    if (!isFact(event)) return;
    if (event.type === "tool_call_result")
      writeLine(
        `· ${event.name} ${event.is_error ? `${event.status}: ${event.error?.message ?? ""}` : `done in ${event.ms} ms`}`,
      );
    if (event.type === "tool_call_start") writeLine(`· ${event.name} ${JSON.stringify(event.arguments)}`);
    if (event.type === "model_failed") writeLine(`· ${event.model} failed: ${event.error.message}`);
    if (event.type === "message")
      for (const part of getMedia(event.entry)) writeLine(`· ${formatMedia(part)}`);
    if (event.type === "warning") writeLine(`· ${event.message}`);
  };
}
