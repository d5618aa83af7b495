import type { ExitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import type { ScriptFlags } from "./start-flags.ts";

/** The chat in a terminal; a script where there is none, or where the flags want the answer as data. */
export async function start(flags: ScriptFlags, io: Io): Promise<ExitCode> {
  if (isScript(flags, io)) {
    const { runScript } = await import("../print/run-script.ts");
    return runScript(flags, io);
  }
  const { startChat } = await import("../chat/start-chat.ts");
  return startChat(flags, io);
}

function isScript({ print, json, streamJson, outputSchema }: ScriptFlags, io: Io): boolean {
  const wantsData = print !== undefined || json || streamJson || outputSchema !== undefined;
  return wantsData || !io.stdin.isTTY || !io.stdout.isTTY;
}
