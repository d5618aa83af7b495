import type { Agent } from "capstan";
import { effortHint, parseEffort } from "../workspace/parse-effort.ts";
import type { CommandContext } from "./slash-commands.ts";

/** `/effort`: shows how much the model reasons, or changes it for the following messages. */
export function changeEffort({ chatState, transcript }: CommandContext, argument: string): void {
  const effort = parseEffort(argument);
  if (argument === "") {
    const current = chatState.effort ?? getAgentEffort(chatState.agent);
    transcript.showNotice(`Effort: ${current}. Change it with /effort low, or /effort default.`);
  } else if (effort === undefined && argument !== "default")
    transcript.showNotice(`Unknown effort "${argument}". ${effortHint}`, "yellow");
  else {
    chatState.effort = effort;
    transcript.showNotice(`Effort: ${effort ?? getAgentEffort(chatState.agent)}.`);
  }
}

function getAgentEffort({ settings }: Agent): string {
  const effort = typeof settings === "object" ? settings.effort : undefined;
  return effort === undefined ? "default" : String(effort);
}
