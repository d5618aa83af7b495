import { type Agent, type Agents, toToolMap } from "../agent.ts";
import { describeThrown } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { Tool } from "../tool.ts";

/** The agents of one run, of which some have tools that come and go. */
export interface DynamicTools {
  readonly agents: Agents;
  /** The turn for which tools were last asked; 0 before. */
  turn(): number;
  /** Asks for the tools of an agent in a turn. When there are none to be had, those of before stay, and that is said. */
  refresh(agent: string, turn: number): readonly FactBody[];
}

/** Nothing when every agent has a list: that never changes. */
export function createDynamicTools(given: Agents): DynamicTools | undefined {
  if (![...given.values()].some(({ toolSource }) => toolSource)) return undefined;
  // A map of its own: runs of the same agent side by side do not change each other's tools.
  const agents = new Map(given);
  let asked = 0;
  let problem: string | undefined;
  return {
    agents,
    turn: () => asked,
    refresh(name, turn) {
      asked = turn;
      const agent = agents.get(name);
      if (!agent?.toolSource) return [];
      const before = problem;
      problem = undefined;
      try {
        const tools = agent.toolSource();
        // A promise is no list, and its rejection must not end the process.
        if (!Array.isArray(tools)) Promise.resolve(tools).catch(() => undefined);
        if (!hasSameTools(agent, tools)) agents.set(name, { ...agent, ...toToolMap(name, tools) });
      } catch (thrown) {
        problem = `The tools of "${name}" could not be had, and stay as they were: ${describeThrown(thrown, "invalid_definition").message}`;
      }
      if (problem === undefined || problem === before) return [];
      return [{ type: "warning", code: "tools_unavailable", message: problem }];
    },
  };
}

/** Then nothing is made anew, and what models keep for each tool stays of use. */
function hasSameTools({ tools: known }: Agent, tools: readonly Tool[]): boolean {
  if (!Array.isArray(tools) || tools.length !== known.size) return false;
  let index = 0;
  for (const tool of known.values()) if (tool !== tools[index++]) return false;
  return true;
}
