// A wire for people who read a run with nothing but `curl`: one line of text per thing that happens.
import { defineAgent, defineTool, type Event, run } from "capstan";
import { scriptedModel } from "capstan/testing";

/** What becomes of each event; for the table of the documentation. Others are not shown. */
export const plainMapping: { readonly [event: string]: string } = {
  tool_call_start: "`→ name`",
  tool_call_result: "`← ok` or `← failed`",
  approval_required: "`? name: reason`",
  done: "the answer, then the status in brackets",
};

/** Turns the events of a run, one by one, into lines. Pure: it knows no request, no store and no clock. */
export function plainLines(): (event: Event) => readonly string[] {
  return (event) => {
    // What happens inside of a call is not shown.
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
      // Protocols show what they have a word for, so new events may come without harm.
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
