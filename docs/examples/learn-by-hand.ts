// The loop of every agent, as short as possible. It does not use Capstan: this is what Capstan does for you.

type Message = { readonly from: "person" | "model" | "tool"; readonly text: string };
type Response = { readonly text: string } | { readonly tool: string };

/** A rule in place of a model: it asks for the time before it answers. */
function model(history: readonly Message[]): Response {
  const known = history.find(({ from }) => from === "tool");
  return known ? { text: `${known.text} You have ten minutes left.` } : { tool: "time" };
}

const tools: { readonly [name: string]: () => string } = { time: () => "It is 14:20." };

function answer(question: string): string {
  const history: Message[] = [{ from: "person", text: question }];
  for (;;) {
    const response = model(history); // think
    if ("text" in response) return response.text; // a final answer ends the loop
    history.push({ from: "model", text: `Please run ${response.tool}.` });
    const result = tools[response.tool]?.() ?? `There is no tool named ${response.tool}.`; // act
    history.push({ from: "tool", text: result }); // observe, and repeat
  }
}

console.log(answer("Will I catch the train at 14:30?"));
