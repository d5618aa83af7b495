import { describe, expect, it } from "vitest";
import { chooseDefaults, describeMissingRecordings, describeOtherAgents } from "./experiment-defaults.ts";

const saveFrom = (agent?: string) => ({
  source: { runId: "run_1", sessionId: "ses_1", ...(agent !== undefined && { agent }) },
});
const agents = ["airport", "graph", "knowledge"];

describe("the defaults of an experiment", () => {
  it("are the agent of most cases and their recorded tools", () => {
    const cases = [saveFrom("knowledge"), saveFrom("graph"), saveFrom("graph"), {}];
    expect(chooseDefaults(cases, agents)).toEqual({ agent: "graph", tools: "recorded" });
  });

  it("are the first agent and simulated tools for cases that are written by hand", () => {
    expect(chooseDefaults([{}], agents)).toEqual({ agent: "airport", tools: "simulated" });
  });

  it("leave out an agent that cannot run", () => {
    expect(chooseDefaults([saveFrom("gone"), saveFrom()], agents)).toMatchObject({ agent: "airport" });
    expect(chooseDefaults([saveFrom("gone")], [])).toMatchObject({ agent: undefined });
  });
});

describe("the notes of an experiment", () => {
  it("say which cases come from another agent", () => {
    expect(describeOtherAgents([saveFrom("graph"), {}], "graph")).toBeUndefined();
    expect(describeOtherAgents([saveFrom("graph"), {}], "airport")).toBe(
      "1 of 2 cases was saved from a run of another agent.",
    );
  });

  it("say which cases have no recorded tools", () => {
    expect(describeMissingRecordings([saveFrom()], "recorded")).toBeUndefined();
    expect(describeMissingRecordings([{}], "simulated")).toBeUndefined();
    expect(describeMissingRecordings([{}, {}, saveFrom()], "recorded")).toBe(
      "2 of 3 cases were not saved from a run: a tool call fails there.",
    );
  });
});
