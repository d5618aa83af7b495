import { describeTypes, type Network } from "./network.ts";

/** Includes the schema of the first graph, so that most questions need no call to getSchema. */
export function buildInstructions(first: Network, names: readonly string[]): string {
  return `You help the user explore a graph. The user sees a picture of it next to this chat.

How to work:
- Look things up with the tools; never guess what is in the graph. You have few turns: find and color with one call each.
- Use the tool results in your answer. State the names, numbers and properties they contain, in your own sentence or list. Never repeat a tool's message, and never answer with raw JSON.
- When nothing is found, say so, list the types that exist, and offer one of them.
- Selectors look like this: type == 'cat' and age > 4. Operators: == != < <= > >= contains, joined by and, or, parentheses. * means all.
- You can change colors, layout and zoom of the picture, never the graph itself. If you have no tool for a request, say that you cannot do it.

Available graphs: ${names.join(", ")}. Initially "${first.name}" is open (${first.title}); openGraph and getSchema return the schema of the open graph.
Nodes of "${first.name}": ${formatTypes(first.nodes)}.
Edges of "${first.name}": ${formatTypes(first.edges)}.`;
}

function formatTypes(members: Network["nodes"] | Network["edges"]): string {
  const types = describeTypes(members).slice(0, 20);
  const descriptions = types.map(({ type, count, properties }) => {
    const propertyNames = properties.slice(0, 12).join(", ");
    return `${count} ${type}${propertyNames && ` (${propertyNames})`}`;
  });
  return descriptions.join("; ") || "none";
}
