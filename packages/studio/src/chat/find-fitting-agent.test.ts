import type { AboutAgent, AgentInfo } from "capstan/client";
import { expect, it } from "vitest";
import { parseAgentName } from "../data/agents.ts";
import { createAgentFinder } from "./find-fitting-agent.ts";

const agents: readonly AboutAgent[] = [
  { name: "travel", title: "Travel desk", description: "Books trains.", topics: ["Café Zürich"] },
  { name: "zoo", title: "Zoo", suggestions: ["Which animals eat fish?"] },
  { name: "notes", title: "Notes", description: "Keeps notes." },
];
const createTool = (name: string, description: string, examples: readonly string[]) => ({
  ...{ name, description, examples, needsApproval: false, isClientSide: false },
});
const details: readonly Pick<AgentInfo, "name" | "tools">[] = [
  { name: "travel", tools: [createTool("findTrain", "Finds a connection.", ["how do I get to {city}"])] },
  { name: "notes", tools: [createTool("save_note", "Saves a reminder.", ["remind me of {text}"])] },
];

it("a text goes to the agent whose profile or tools share its words, whatever their form", () => {
  const find = createAgentFinder(agents, details);
  expect(find("Is there an animal that eats fishes?")).toEqual({
    agent: "zoo",
    words: ["animal", "eats", "fishes"],
  });
  expect(find("the next TRAIN")?.agent).toBe("travel");
  expect(find("cafe zurich")?.agent).toBe("travel");
  expect(find("Remind me of the dentist")).toEqual({ agent: "notes", words: ["remind"] });
  // Names of slots are no words of the user.
  expect(find("my city")).toBeUndefined();
});

it("no agent fits a text without words of its own, or with words of two agents", () => {
  const find = createAgentFinder(agents, details);
  for (const text of ["", "  ", "what can I do here?", "hello!", "quantum chess", "animals on a train"])
    expect(find(text), text).toBeUndefined();
});

it("a word in the description of a tool alone does not decide", () => {
  const find = createAgentFinder(agents, details);
  expect(find("a reminder")).toBeUndefined();
  expect(find("save a reminder")?.agent).toBe("notes");
});

it("own data competes together with its app: the data with the words gets the text, else the newest", () => {
  const own = (name: string, topics: readonly string[]) => ({ name, title: name, app: "notes", topics });
  const find = createAgentFinder([...agents, own("trips", ["ferry"]), own("recipes", ["soup"])], details);
  expect(find("When does the ferry leave?")?.agent).toBe("trips");
  expect(find("a note about soup")?.agent).toBe("recipes");
  expect(find("what do my notes say?")?.agent).toBe("notes");
  expect(find("remind me")?.agent).toBe("notes");
  const alike = createAgentFinder([...agents, { ...agents[2], name: "newer", app: "notes" }]);
  expect(alike("my notes")?.agent).toBe("newer");
});

it("the name of a run's agent is split into the agent and the model", () => {
  expect(parseAgentName("zoo", agents)).toEqual({ agent: "zoo" });
  expect(parseAgentName("zoo@ollama/qwen3:4b", agents)).toEqual({ agent: "zoo", model: "ollama/qwen3:4b" });
  const suffix = `+tools_${"a".repeat(43)}`;
  expect(parseAgentName(`zoo@acme/wise${suffix}`, agents)).toEqual({ agent: "zoo", model: "acme/wise" });
  expect(parseAgentName("gone@acme/wise", agents)).toEqual({ agent: "gone@acme/wise" });
});
