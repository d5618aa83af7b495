import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/history.ts";
import { session } from "../../sessions/session.ts";
import { sessions } from "../../sessions/sessions.ts";
import {
  agentTasks,
  folderTasks,
  importedTasks,
  officeTasks,
  pageTasks,
  type Task,
  trackerTasks,
} from "../../testing/benign-tasks.ts";
import { call, createLab, type Lab, type LabSetup } from "../../testing/injections/injection-lab.ts";
import { gossipModel } from "../../testing/obedient-model.ts";
import { createFolderTools, createPageTools, createTrackerTools } from "../../testing/small-world.ts";
import { agentTool } from "../nested/agent-tool.ts";

type Setting = {
  readonly tasks: readonly Task[];
  /** Approvals that the tasks need: those that do what a stranger wrote, or reach somebody the user did not name. */
  readonly approvals: number;
  prepare?(lab: Lab, text: string): LabSetup | Promise<LabSetup>;
};

const settings: Readonly<Record<string, Setting>> = {
  "an office": { tasks: officeTasks, approvals: 5 },
  "a folder that the user chose": {
    tasks: folderTasks,
    approvals: 1,
    prepare: ({ executions }) => ({ tools: createFolderTools(executions) }),
  },
  "an approved MCP server": {
    tasks: trackerTasks,
    approvals: 1,
    prepare: ({ executions }) => ({ tools: createTrackerTools(executions) }),
  },
  "an MCP server that nobody has approved": {
    tasks: trackerTasks,
    approvals: 1,
    prepare: ({ executions }) => ({ tools: createTrackerTools(executions, "tracker") }),
  },
  "a web page": {
    tasks: pageTasks,
    approvals: 1,
    prepare: ({ executions }, text) => ({
      tools: createPageTools(executions),
      input: [
        { type: "user", content: '{"customer":"Carl","mail":"carl@example.net"}', provenance: "application" },
        { type: "user", content: text },
      ] satisfies Entry[],
    }),
  },
  "an imported session": { tasks: importedTasks, approvals: 1, prepare: importConversation },
  "an agent with a sub-agent": {
    tasks: agentTasks,
    approvals: 1,
    prepare: (lab) => ({
      tools: [agentTool(lab.agent("helper", { model: gossipModel([call("web_page")], "A page.") }))],
    }),
  },
};

async function importConversation(lab: Lab): Promise<LabSetup> {
  const elsewhere = createLab("default");
  await elsewhere.run({
    input: "Which hall is cheaper?",
    model: gossipModel([call("web_page", { of: "halls" })], "Hall 3."),
  });
  await sessions(lab.store).import(await session(elsewhere.store, "s").export("json"), { id: "s" });
  return {};
}

/** Does a task as a user who approves everything. Returns how often the user was asked. */
async function countApprovals([text, ...plan]: Task, { prepare }: Setting): Promise<number> {
  const lab = createLab("default");
  const handle = lab.run({ input: text, ...(await prepare?.(lab, text)), plan });
  let approvals = 0;
  let result = await handle;
  while (result.status === "waiting") {
    approvals += result.pending.length;
    for (const { callId } of result.pending) handle.approve(callId);
    result = await handle;
  }
  expect(result.status, text).toBe("done");
  expect(result.toolCalls.map(({ name }) => name)).toEqual(plan.map(({ name }) => name));
  return approvals;
}

describe("ordinary tasks", () => {
  it.each(Object.entries(settings))("in %s hardly ever need approval (A108)", async (_, setting) => {
    let approvals = 0;
    for (const task of setting.tasks) approvals += await countApprovals(task, setting);
    expect(approvals).toBe(setting.approvals);
  });

  it("are 120, and need at most 0.2 approvals each (A108)", () => {
    const all = Object.values(settings);
    const count = all.reduce((sum, { tasks }) => sum + tasks.length, 0);
    const approvals = all.reduce((sum, setting) => sum + setting.approvals, 0);
    expect(count).toBe(120);
    expect(approvals / count).toBeLessThanOrEqual(0.2);
  });
});
