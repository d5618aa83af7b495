// A plain-text wire for reading a run with `curl`: one line per event.
import { defineAgent, defineTool, type Event, run } from "capstan";
import { scriptedModel } from "capstan/testing";

/** How each event is shown, for the table in the documentation. Other events are omitted. */
export const plainMapping: { readonly [event: string]: string } = {
  tool_call_start: "`→ name`",
  tool_call_result: "`← ok` or `← failed`",
  approval_required: "`? name: reason`",
  done: "the answer, then the status in brackets",
};

/** Converts the events of a run to lines. Pure: uses no request, store or clock. */
export function plainLines(): (event: Event) => readonly string[] {
  return (event) => {
    // Omit nested runs.
    if (event.parentRunId !== undefined) return [];
    switch (event.type) {
      case "tool_call_start":
        return [`→ ${event.name}`];
      case "tool_call_result":
        return [event.is_error ? "← failed" : "← ok"];
      case "approval_required":
        return [`? ${event.name}: ${event.reason}`];
      case "done":
        return [event.text, `[${event.status}]`];
      // Ignore other events, so that new ones do not break the protocol.
      default:
        return [];
    }
  };
}

if (import.meta.main) {
  const weigh = defineTool({ name: "weigh", description: "Weighs", input: {}, execute: () => "7 kg" });
  const model = scriptedModel([{ calls: [{ name: "weigh" }] }, { text: "It weighs 7 kg." }]);
  const project = plainLines();
  for await (const event of run(defineAgent({ name: "post", model, tools: [weigh] }), "How heavy is it?"))
    for (const line of project(event)) console.log(line);
}
