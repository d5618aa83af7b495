import type { ToolSpec } from "capstan";
import { fillers } from "./meanings.ts";
import { propertiesOf } from "./properties.ts";
import type { Scene } from "./resolve-reference.ts";
import { nameWords } from "./words.ts";

/** What is known, for a tool that takes something away: only what is of its kind. A bare `id` may be that of anything. */
export function carefulScene(tool: ToolSpec, scene: Scene): Scene {
  const ids = propertiesOf(tool).filter(({ name, isReference }) => isReference && !/^ids?$/u.test(name));
  const noun = nameWords(tool.name).findLast((part) => part !== "id" && !fillers.has(part)) ?? "";
  const results = scene.results.filter(
    ({ name, items }) =>
      nameWords(name).includes(noun) ||
      ids.some((id) => items.some((item) => item[id.name.replace(/s$/u, "")] !== undefined)),
  );
  return { ...scene, results, isCareful: true };
}
