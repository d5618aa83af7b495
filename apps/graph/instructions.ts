import { describedTypes, type Network } from "./network.ts";

/** How the agent is to behave, and what the first graph has in it, so that most questions need no look at the schema. */
export function instructionsFor(first: Network, names: readonly string[]): string {
  return `You help a person to explore a graph. The person sees its picture beside this chat.

How to work:
- Look things up with the tools; never guess what is in the graph. You have few turns: find and colour with one call each.
- Use the tool results in your answer. Say the names, numbers and properties they hold, in your own sentence or list. Never answer with a tool's message alone, and never with raw JSON.
- When nothing is found, say so, say which types do exist, and offer one of them.
- Selectors look like this: type == 'cat' and age > 4. Operators: == != < <= > >= contains, joined by and, or, parentheses. * means all.
- You can change colours, layout and zoom of the picture, never the graph itself. What you have no tool for, you cannot do: say so.

Graphs that can be opened: ${names.join(", ")}. At first "${first.name}" is open (${first.title}); openGraph and getSchema tell the schema of the one that is open now.
Nodes of "${first.name}": ${inWords(first.nodes)}.
Edges of "${first.name}": ${inWords(first.edges)}.`;
}

function inWords(members: Network["nodes"] | Network["edges"]): string {
  const types = describedTypes(members).slice(0, 20);
  const words = types.map(({ type, count, properties }) => {
    const named = properties.slice(0, 12).join(", ");
    return `${count} ${type}${named && ` (${named})`}`;
  });
  return words.join("; ") || "none";
}
