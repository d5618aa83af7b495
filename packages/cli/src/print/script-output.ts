import { type Event, isFact, type Result } from "capstan";
import type { StartFlags } from "../commands/start-flags.ts";
import type { Io } from "../io.ts";
import { formatJsonLine } from "../output/format-json.ts";
import { formatOutput } from "../output/format-output.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** Where a script's run is told. */
export interface ScriptOutput {
  writeEvent(writeEvent: Event): void;
  writeResult(writeResult: Result): void;
  /** There is no result: why. */
  writeFailure(error: { readonly code: string; readonly message: string }): void;
}

/** Data goes to stdout, in whole lines; what people want to know meanwhile to stderr. */
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

/** What has an answer that is one; the words about a failure belong to stderr. */
function formatAnswer({ status, text, output }: Result, { stdout }: Io): string {
  if (status !== "done" && status !== "limit") return "";
  const answer = output === undefined ? text : JSON.stringify(output);
  return `${formatOutput(answer, stdout).trimEnd()}\n`;
}

/** One line for each call of a tool, and for what goes wrong on the way. */
function createProgressWriter({ stderr }: Io): (event: Event) => void {
  const writeLine = (text: string) =>
    void stderr.write(`${escapeTerminalLine(text).slice(0, (stderr.columns ?? 120) - 1)}\n`);
  return (event) => {
    if (!isFact(event)) return;
    if (event.type === "tool_call_result")
      writeLine(
        `· ${event.name} ${event.is_error ? `${event.status}: ${event.error?.message ?? ""}` : `done in ${event.ms} ms`}`,
      );
    if (event.type === "tool_call_start") writeLine(`· ${event.name} ${JSON.stringify(event.arguments)}`);
    if (event.type === "model_failed") writeLine(`· ${event.model} failed: ${event.error.message}`);
    if (event.type === "warning") writeLine(`· ${event.message}`);
  };
}
