import type { ExitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import type { StartFlags } from "./start-flags.ts";

/** Starts the chat, or a one-shot run when there is no terminal or the flags ask for printed output. */
export async function start(flags: StartFlags, io: Io): Promise<ExitCode> {
  if (shouldPrint(flags, io)) {
    const { runScript } = await import("../print/run-script.ts");
    return runScript(flags, io);
  }
  const { startChat } = await import("../chat/start-chat.ts");
  return startChat(flags, io);
}

function shouldPrint({ print, json, streamJson, outputSchema }: StartFlags, io: Io): boolean {
  const wantsData = print !== undefined || json || streamJson || outputSchema !== undefined;
  return wantsData || !io.stdin.isTTY || !io.stdout.isTTY;
}
