// Every tool of this app is a command on the graph that is open in the session. All return the same result shape.

import {
  defineTool,
  type Effects,
  type Json,
  type Tool,
  type ToolExample,
  type ToolReturn,
  type UiHint,
} from "capstan";
import type { Catalog } from "./catalog.ts";
import type { Network } from "./network.ts";
import { createPicture, type PictureOptions } from "./picture.ts";
import { SelectorError } from "./selector.ts";
import { createView, type View, type Views } from "./view.ts";

export type Facts = { readonly [name: string]: Json };

export type CommandResult = {
  readonly success: boolean;
  readonly message: string;
  readonly data?: Facts;
  /** Explains an empty result to readers of the data, who do not see the message. */
  readonly note?: string;
  readonly affectedNodes?: readonly string[];
  readonly affectedEdges?: readonly string[];
};

/** How a command changes the picture. `view` is set if the view changed. */
export type PictureUpdate = PictureOptions & { readonly view?: View; readonly network?: Network };

/** Shared context of all commands. */
export type GraphContext = {
  readonly catalog: Catalog;
  readonly views: Views;
  readonly reads: "public" | "private";
};

export type CommandContext = { readonly network: Network; readonly view: View; readonly signal: AbortSignal };

/** A command that cannot run. The message is for the model. */
export class Refusal extends Error {}

type Command<Input> = {
  readonly name: string;
  readonly description: string;
  readonly input: { readonly [name: string]: Json };
  readonly required?: readonly string[];
  readonly examples: readonly ToolExample[];
  readonly effects: Effects;
  /** How long the session reuses the result of an identical call. Only for results without a picture. */
  readonly cacheMs?: number | undefined;
  run(
    input: Input,
    context: CommandContext,
  ): readonly [CommandResult, PictureUpdate?] | Promise<readonly [CommandResult, PictureUpdate?]>;
};

/** Defines a tool from a command. Commands set colors and layouts, so repeating a call is harmless. */
export function defineCommand<Input>(graphContext: GraphContext, command: Command<Input>): Tool;
export function defineCommand(graphContext: GraphContext, command: Command<unknown>): Tool {
  const { name, description, input, required = [], examples, effects, cacheMs, run } = command;
  return defineTool({
    name,
    description,
    examples,
    effects,
    reads: [graphContext.reads],
    idempotent: true,
    ...(cacheMs !== undefined && { cacheMs }),
    input: { type: "object", properties: input, required, additionalProperties: false },
    async execute(args, { sessionId, signal }): Promise<ToolReturn> {
      try {
        const context = await loadContext(graphContext, sessionId, signal);
        const [result, update] = await run(args, context);
        if (update?.view) await graphContext.views.write(sessionId, update.view);
        return toToolReturn(
          result,
          update && createPicture(update.network ?? context.network, update.view ?? context.view, update),
        );
      } catch (error) {
        if (error instanceof Refusal) return toToolReturn({ success: false, message: error.message });
        if (error instanceof SelectorError)
          return toToolReturn({ success: false, message: `The selector is unclear. ${error.message}` });
        throw error;
      }
    },
  });
}

/** The time for results that depend on the graph alone: such a result is valid for one graph, and files can change. */
export const getGraphCacheMs = ({ catalog }: GraphContext): number | undefined =>
  catalog.names.length === 1 ? 600_000 : undefined;

async function loadContext(
  { catalog, views }: GraphContext,
  sessionId: string,
  signal: AbortSignal,
): Promise<CommandContext> {
  const storedView = await views.read(sessionId);
  const view =
    storedView && catalog.names.includes(storedView.graph) ? storedView : createView(catalog.first);
  return { network: await catalog.get(view.graph, signal), view, signal };
}

/** The model gets the result as JSON with counts of affected elements; the user sees the picture. */
export function toToolReturn(result: CommandResult, ui?: UiHint): ToolReturn {
  const { success, message, data, note, affectedNodes, affectedEdges } = result;
  const modelResult = {
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
    content: JSON.stringify(modelResult, null, 2),
    message,
    ...(data !== undefined && { data: { ...(note !== undefined && { note }), ...data } }),
    ...((affectedNodes || affectedEdges) && { affected }),
    ...(ui && { ui }),
    ...(!success && { error: message, retryable: false }),
  };
}
