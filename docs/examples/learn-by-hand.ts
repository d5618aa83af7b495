// The loop of every agent, as short as it can be. Capstan is not used here: this is what it does for you.

type Message = { readonly from: "person" | "model" | "tool"; readonly text: string };
type Said = { readonly text: string } | { readonly tool: string };

/** A model, played by a rule: it wants to know the time before it answers. */
function model(history: readonly Message[]): Said {
  const known = history.find(({ from }) => from === "tool");
  return known ? { text: `${known.text} You have ten minutes left.` } : { tool: "time" };
}

const tools: { readonly [name: string]: () => string } = { time: () => "It is 14:20." };

function answer(question: string): string {
  const history: Message[] = [{ from: "person", text: question }];
  for (;;) {
    const said = model(history); // think
    if ("text" in said) return said.text; // a final answer ends it
    history.push({ from: "model", text: `Please run ${said.tool}.` });
    const result = tools[said.tool]?.() ?? `There is no tool named ${said.tool}.`; // act
    history.push({ from: "tool", text: result }); // observe, and go round
  }
}

console.log(answer("Will I catch the train at 14:30?"));
