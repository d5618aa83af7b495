// Every tool of this app is a command on the graph that is open in its session, and gives the same shape of result.

import {
  defineTool,
  type Effects,
  type Json,
  type Tool,
  type ToolExample,
  type ToolReturn,
  type UiHint,
} from "capstan";
import type { Catalogue } from "./catalogue.ts";
import type { Network } from "./network.ts";
import { type PictureOptions, pictureOf } from "./picture.ts";
import { SelectorError } from "./selector.ts";
import { plainView, type View, type Views } from "./views.ts";

export type Facts = { readonly [name: string]: Json };

export type CommandResult = {
  readonly success: boolean;
  readonly message: string;
  readonly data?: Facts;
  /** Why there is nothing, for whoever reads the data and not the message. */
  readonly note?: string;
  readonly affectedNodes?: readonly string[];
  readonly affectedEdges?: readonly string[];
};

/** What a command does to the picture; `view` is the new one, when it changed. */
export type Shown = PictureOptions & { readonly view?: View; readonly network?: Network };

/** Where commands find the graphs and keep the views. */
export type Desk = {
  readonly catalogue: Catalogue;
  readonly views: Views;
  readonly reads: "public" | "private";
};

export type Scene = { readonly network: Network; readonly view: View; readonly signal: AbortSignal };

/** Why a command is not carried out, in words for the model. */
export class Refusal extends Error {}

type Command<Input> = {
  readonly name: string;
  readonly description: string;
  readonly input: { readonly [name: string]: Json };
  readonly required?: readonly string[];
  readonly examples: readonly ToolExample[];
  readonly effects: Effects;
  carryOut(
    input: Input,
    scene: Scene,
  ): readonly [CommandResult, Shown?] | Promise<readonly [CommandResult, Shown?]>;
};

/** A command as a tool. Colours and layouts are set, not added to: the same call twice does no harm. */
export function commandTool<Input>(desk: Desk, command: Command<Input>): Tool {
  const { name, description, input, required = [], examples, effects, carryOut } = command;
  return defineTool({
    name,
    description,
    examples,
    effects,
    reads: [desk.reads],
    idempotent: true,
    input: { type: "object", properties: input, required, additionalProperties: false },
    async execute(given, { sessionId, signal }): Promise<ToolReturn> {
      try {
        const scene = await sceneOf(desk, sessionId, signal);
        const [result, shown] = await carryOut(given as Input, scene);
        if (shown?.view) await desk.views.write(sessionId, shown.view);
        return toolReturn(
          result,
          shown && pictureOf(shown.network ?? scene.network, shown.view ?? scene.view, shown),
        );
      } catch (error) {
        if (error instanceof Refusal) return toolReturn({ success: false, message: error.message });
        if (error instanceof SelectorError)
          return toolReturn({ success: false, message: `It is not clear what is meant. ${error.message}` });
        throw error;
      }
    },
  });
}

async function sceneOf({ catalogue, views }: Desk, sessionId: string, signal: AbortSignal): Promise<Scene> {
  const kept = await views.read(sessionId);
  const view = kept && catalogue.names.includes(kept.graph) ? kept : plainView(catalogue.first);
  return { network: await catalogue.get(view.graph, signal), view, signal };
}

/** The model reads the result as JSON, with counts of what was affected; people see the picture. */
export function toolReturn(result: CommandResult, ui?: UiHint): ToolReturn {
  const { success, message, data, note, affectedNodes, affectedEdges } = result;
  const forModel = {
    success,
    message,
    ...(data !== undefined && { data }),
    ...(affectedNodes && { affectedNodes: affectedNodes.length }),
    ...(affectedEdges && { affectedEdges: affectedEdges.length }),
  };
  const affected = {
    ...(affectedNodes && { nodes: affectedNodes }),
    ...(affectedEdges && { edges: affectedEdges }),
  };
  return {
    content: JSON.stringify(forModel, null, 2),
    message,
    ...(data !== undefined && { data: { ...(note !== undefined && { note }), ...data } }),
    ...((affectedNodes || affectedEdges) && { affected }),
    ...(ui && { ui }),
    ...(!success && { error: message, retryable: false }),
  };
}
