import type { Agent, InstructionsInput } from "../agent.ts";
import { readResult } from "../builtin-tools.ts";
import type { ModelEffect } from "../effect.ts";
import { AgentError, describeThrown } from "../errors.ts";
import type { ModelRequest, ToolSpec } from "../model.ts";
import type { State } from "../state.ts";
import { agentOf, type Io } from "./io.ts";

/** Enough for any call that is worth making; what a model cannot do it refuses by name. */
const muchOutput = 32_000;

/** What the model is sent this turn: the instructions made anew, the whole history, the tools that are on offer. */
export async function requestFor(effect: ModelEffect, io: Io): Promise<ModelRequest> {
  const { state } = io;
  const agent = agentOf(effect.agent, io);
  const withdrawn = effect.tools === "withdrawn" || effect.tools === "unavailable";
  const tools = withdrawn ? [] : specsFor(agent, state);
  const base = state.run?.instructions ?? (await instructionsOf(effect, agent, io));
  return {
    instructions: [base, formOf(agent), ...effect.notes].filter((text) => text !== "").join("\n\n"),
    history: state.history,
    tools,
    toolChoice: tools.length === 0 ? "none" : effect.tools === "required" ? "required" : "auto",
    thinking: effect.thinking,
    ...(effect.hasMoreRoom && { maxOutputTokens: muchOutput }),
    ...(agent.output && { output: agent.output.json }),
  };
}

function specsFor(agent: Agent, state: State): readonly ToolSpec[] {
  const { name, description, schema } = readResult;
  if (!state.hasHandles || agent.tools.has(name)) return agent.specs;
  return [...agent.specs, { name, description, input: schema.json }];
}

function formOf({ output }: Agent): string {
  if (!output) return "";
  return `Give your final answer as JSON only, with no other text, valid by this JSON Schema:\n${JSON.stringify(output.json)}`;
}

async function instructionsOf(
  effect: ModelEffect,
  agent: Agent,
  { state, clock, context }: Io,
): Promise<string> {
  if (typeof agent.instructions === "string") return agent.instructions;
  const timeZone = state.run?.timeZone ?? "UTC";
  const input: InstructionsInput = {
    now: inWords(clock.now(), timeZone),
    timeZone,
    turn: effect.turn,
    maxTurns: effect.maxTurns,
    tools: agent.specs,
    fragments: [...state.fragments.values()],
    context,
  };
  try {
    return await agent.instructions(input);
  } catch (thrown) {
    const { message } = describeThrown(thrown, "instructions_failed");
    throw new AgentError("instructions_failed", `The instructions of "${agent.name}" threw: ${message}`, {
      cause: thrown,
    });
  }
}

function inWords(at: number, timeZone: string): string {
  const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone }).format(
    at,
  );
  return `${date} (${timeZone})`;
}
