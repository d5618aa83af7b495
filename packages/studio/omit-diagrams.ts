import type { Plugin } from "vite";

/** Kinds of Mermaid diagrams that are drawn, by the names of their modules. */
const drawn = /\/(?:flow|sequence|class|state|er|gantt|journey|quadrant|xychart)Diagram/;
const mermaidPart = /\/mermaid\/dist\/chunks\/mermaid\.core\/(?!chunk-|dagre-|timeline-|sizeCapture-)[^/]+$/;

/**
 * Leaves out the kinds of diagrams that are rarely written, the other layouts, and a second library for maths: three
 * quarters of Mermaid, among them a parser generator for pies and Git graphs. A diagram that needs one of them is shown as its code.
 */
export function omitDiagrams(): Plugin {
  return {
    name: "omit-diagrams",
    apply: "build",
    load(id) {
      const isOmitted = mermaidPart.test(id) ? !drawn.test(id) : id.includes("/node_modules/katex/");
      return isOmitted ? 'throw new Error("Not included.");\nexport default {};' : undefined;
    },
  };
}
