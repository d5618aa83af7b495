import type { Json, PendingCall } from "capstan";
import { isAgentError } from "../errors/format-error.ts";
import { promptForValue } from "./prompt-for-value.ts";
import type { View } from "./view.ts";

/** Returns a call as it would be with changed arguments. Rejects if they cannot be approved. */
export type PreviewCall = (callId: string, input: Json) => Promise<PendingCall>;

type EditedArguments =
  | { readonly type: "edited"; readonly input: Json; readonly preview: PendingCall }
  | { readonly type: "left" }
  | { readonly type: "stopped" };

/** Lets the user change the arguments of a call, as JSON in one line, until they are valid. */
export async function promptForArguments(
  view: View,
  { callId, name, input: before }: Pick<PendingCall, "callId" | "name" | "input">,
  previewCall: PreviewCall,
): Promise<EditedArguments> {
  let text = JSON.stringify(before);
  let problem = "";
  for (;;) {
    const typed = await promptForValue(view, {
      ...{ label: `Arguments of ${name}`, problem, text },
      hint: "Enter checks these arguments · Esc goes back",
    });
    if (typed.type !== "typed") return typed;
    text = typed.text;
    const input = parseEditedInput(text);
    problem = "The arguments must be a JSON object.";
    if (input === undefined) continue;
    try {
      return { type: "edited", input, preview: await previewCall(callId, input) };
    } catch (thrown) {
      if (!isAgentError(thrown)) throw thrown;
      problem = thrown.message;
    }
  }
}

function parseEditedInput(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
