import { defineAgent, defineTool, run } from "capstan";
import { collect, scriptedModel } from "capstan/testing";

// In the studio this type is in widget-props.ts, and tools import it as a type.
export type TimelineProps = {
  readonly title?: string;
  readonly events: readonly { readonly at: string; readonly label: string }[];
  /** Reply buttons below the answer; a click sends the text. */
  readonly replies?: readonly string[];
};

const deliveries = defineTool({
  name: "deliveries",
  description: "Where a parcel has been",
  input: { parcel: { type: "string", required: true } },
  effects: "none",
  execute({ parcel }) {
    const props: TimelineProps = {
      title: `Parcel ${parcel}`,
      events: [
        { at: "08:10", label: "Left the depot" },
        { at: "11:45", label: "In your street" },
      ],
      replies: ["Leave it with a neighbour"],
    };
    // `content` is for the model, `ui` for the user. Model clients never send `ui`.
    return {
      content: "Left the depot at 08:10, in the street since 11:45.",
      ui: { kind: "timeline", props },
    };
  },
});

const model = scriptedModel([
  { calls: [{ name: "deliveries", input: { parcel: "77" } }] },
  { text: "It is in your street." },
]);
const agent = defineAgent({ name: "courier", model, tools: [deliveries] });
const { facts } = await collect(run(agent, "Where is parcel 77?"));

for (const fact of facts)
  if (fact.type === "tool_call_result") console.log(`${fact.ui?.kind}: ${JSON.stringify(fact.ui?.props)}`);
const last = model.requests[1]?.history.at(-1);
if (last?.type === "result") console.log(`the model reads: ${last.content}`);
