import { describeThrown } from "../base/errors.ts";
import { type Agent, type Agents, toToolMap } from "../kernel/agent.ts";
import type { FactBody } from "../kernel/event.ts";
import type { Tool } from "../kernel/tool.ts";

/** The agents of one run, where the tools of some are resolved again for each turn. */
export interface DynamicTools {
  readonly agents: Agents;
  /** The turn whose tools were resolved last; 0 before the first. */
  turn(): number;
  /** Resolves the tools of an agent for a turn. If that fails, the earlier tools stay, and a warning is returned. */
  refresh(agent: string, turn: number): readonly FactBody[];
}

/** Call it only when `hasDynamicTools`: a fixed list never changes. */
export function createDynamicTools(initialAgents: Agents): DynamicTools {
  // A copy: concurrent runs of the same agent must not change each other's tools.
  const agents = new Map(initialAgents);
  let refreshedTurn = 0;
  let problem: string | undefined;
  return {
    agents,
    turn: () => refreshedTurn,
    refresh(name, turn) {
      refreshedTurn = turn;
      const agent = agents.get(name);
      if (!agent?.toolSource) return [];
      const earlierProblem = problem;
      problem = undefined;
      try {
        const tools = agent.toolSource();
        // A promise is not a list; its rejection must not end the process.
        if (!Array.isArray(tools)) Promise.resolve(tools).catch(() => undefined);
        if (!hasSameTools(agent, tools)) agents.set(name, { ...agent, ...toToolMap(name, tools) });
      } catch (thrown) {
        problem = `The tools of "${name}" could not be resolved; the earlier ones stay: ${describeThrown(thrown, "invalid_definition").message}`;
      }
      if (problem === undefined || problem === earlierProblem) return [];
      return [{ type: "warning", code: "tools_unavailable", message: problem }];
    },
  };
}

/** If so, the agent is kept, and with it everything that models cache per tool. */
function hasSameTools({ tools: known }: Agent, tools: readonly Tool[]): boolean {
  if (!Array.isArray(tools) || tools.length !== known.size) return false;
  let index = 0;
  for (const tool of known.values()) if (tool !== tools[index++]) return false;
  return true;
}
