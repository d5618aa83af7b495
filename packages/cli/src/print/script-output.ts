import { type Event, isFact, type Result } from "capstan";
import type { ScriptFlags } from "../commands/start-flags.ts";
import type { Io } from "../io.ts";
import { jsonLine } from "../output/format-json.ts";
import { plainText } from "../output/format-output.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";

/** Where a script's run is told. */
export interface ScriptOutput {
  event(event: Event): void;
  result(result: Result): void;
  /** There is no result: why. */
  failed(error: { readonly code: string; readonly message: string }): void;
}

/** Data goes to stdout, in whole lines; what people want to know meanwhile to stderr. */
export function scriptOutput({ json, streamJson }: ScriptFlags, io: Io): ScriptOutput {
  if (streamJson)
    return {
      event: (event) => void io.stdout.write(jsonLine(event)),
      result: () => undefined,
      failed: (error) => void io.stdout.write(jsonLine({ type: "error", ...error })),
    };
  const event = progressOn(io);
  if (json)
    return {
      event,
      result: (result) => void io.stdout.write(jsonLine(result)),
      failed: (error) => void io.stdout.write(jsonLine({ status: "failed", error })),
    };
  return {
    event,
    result: (result) => void io.stdout.write(plainAnswer(result, io)),
    failed: () => undefined,
  };
}

/** What has an answer that is one; the words about a failure belong to stderr. */
function plainAnswer({ status, text, output }: Result, { stdout }: Io): string {
  if (status !== "done" && status !== "limit") return "";
  const answer = output === undefined ? text : JSON.stringify(output);
  return `${plainText(answer, stdout).trimEnd()}\n`;
}

/** One line for each call of a tool, and for what goes wrong on the way. */
function progressOn({ stderr }: Io): (event: Event) => void {
  const say = (text: string) =>
    void stderr.write(`${harmlessLine(text).slice(0, (stderr.columns ?? 120) - 1)}\n`);
  return (event) => {
    if (!isFact(event)) return;
    if (event.type === "tool_call_result")
      say(
        `· ${event.name} ${event.is_error ? `${event.status}: ${event.error?.message ?? ""}` : `done in ${event.ms} ms`}`,
      );
    if (event.type === "tool_call_start") say(`· ${event.name} ${JSON.stringify(event.arguments)}`);
    if (event.type === "model_failed") say(`· ${event.model} failed: ${event.error.message}`);
    if (event.type === "warning") say(`· ${event.message}`);
  };
}
