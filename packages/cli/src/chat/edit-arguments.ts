import type { Json, PendingCall } from "capstan";
import { promptForValue } from "./prompt-for-value.ts";
import type { View } from "./view.ts";

/** Returns what is wrong with the changed arguments of a call, if anything. */
export type CheckArguments = (call: PendingCall, input: Json) => Promise<string | undefined>;

type EditedArguments =
  | { readonly type: "edited"; readonly input: Json }
  | { readonly type: "left" }
  | { readonly type: "stopped" };

/** Lets the user change the arguments of a call, as JSON in one line, until they are valid. */
export async function promptForArguments(
  view: View,
  call: PendingCall,
  check: CheckArguments,
): Promise<EditedArguments> {
  let text = JSON.stringify(call.input);
  let problem = "";
  for (;;) {
    const typed = await promptForValue(view, {
      ...{ label: `Arguments of ${call.name}`, problem, text },
      hint: "Enter allows the call with these arguments · Esc goes back",
    });
    if (typed.type !== "typed") return typed;
    text = typed.text;
    const input = parseEditedInput(text);
    problem =
      input === undefined ? "The arguments must be a JSON object." : ((await check(call, input)) ?? "");
    if (input !== undefined && problem === "") return { type: "edited", input };
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
