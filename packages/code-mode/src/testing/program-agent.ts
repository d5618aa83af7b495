import { type Agent, defineAgent, defineTool, type Tool, type ToolContext } from "capstan";
import { scriptedModel } from "capstan/testing";
import { type CodeModeOptions, codeMode } from "../code-mode.ts";

/** Tools that note their executions: two without effects, one that writes, and one that needs approval. */
export function createOrderTools(executed: string[] = []): readonly Tool[] {
  const note = ({ idempotencyKey }: ToolContext) => void executed.push(idempotencyKey);
  const id = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } as const;
  return [
    defineTool({
      name: "get_order",
      description: "Returns an order",
      effects: "none",
      reads: ["public"],
      input: id,
      execute: (input, context) => {
        note(context);
        return { id: input.id, total: input.id * 10, lines: ["book", "pen"] };
      },
    }),
    defineTool({
      name: "fail",
      description: "Always fails",
      effects: "none",
      reads: ["public"],
      retry: { maxAttempts: 1 },
      input: { type: "object", properties: {} },
      execute: (_input, context) => {
        note(context);
        throw new Error("The printer is on fire");
      },
    }),
    defineTool({
      name: "mark",
      description: "Marks an order",
      effects: "state",
      reads: ["public"],
      input: id,
      execute: (input, context) => {
        note(context);
        return `marked ${input.id}`;
      },
    }),
    defineTool({
      name: "refund",
      description: "Refunds an order",
      effects: "state",
      reads: ["public"],
      needsApproval: true,
      input: id,
      execute: (input, context) => {
        note(context);
        return `refunded ${input.id}`;
      },
    }),
  ];
}

/** A program with calls at the same time and one after the other, one that fails, and one that needs approval. */
export const orderProgram: string = `const orders = await Promise.all([1, 2].map((id) => tools.get_order({ id })));
const marks = [];
for (const { id } of orders) marks.push(await tools.mark({ id }));
try { await tools.fail() } catch ({ message }) { marks.push(message) }
marks.push(await tools.refund({ id: orders[1].id }), new Date().getTime() > 0, Math.random() < 1);
return marks;`;

export type ProgramAgentOptions = {
  readonly executed?: string[];
  readonly limits?: CodeModeOptions["limits"];
};

/** An agent whose model writes this program and then answers with its result. */
export function createProgramAgent(code: string, { executed, limits = {} }: ProgramAgentOptions = {}): Agent {
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type !== "result") return { calls: [{ name: "run_code", input: { code } }] };
    return { text: `${last.status}: ${typeof last.content === "string" ? last.content : "media"}` };
  });
  return defineAgent({
    name: "main",
    model,
    tools: [codeMode({ tools: createOrderTools(executed), limits })],
  });
}
