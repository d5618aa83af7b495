import { AgentError, describeThrown } from "../errors.ts";
import type { Fact } from "../event.ts";
import { identifyFact } from "../ids.ts";
import { isRecord } from "../json.ts";
import { checkPolicy } from "../policy.ts";
import { fold } from "../state/apply.ts";
import { factShape } from "./fact-shapes.ts";
import { blobData, fileFormat, fileVersion, type SessionFile } from "./session-file.ts";
import { either, mapOf, record, text } from "./shape.ts";
import { isNested } from "./stored-facts.ts";

const mostCharacters = 64_000_000;
const mostFacts = 100_000;
const deepest = 128;
const longestTitle = 1000;

/** Reads the text of a file, and refuses what is not a whole session, saying what is wrong with which fact. */
export function readSessionFile(written: string): SessionFile {
  if (written.length > mostCharacters)
    throw refused(`it has ${written.length} characters, and at most ${mostCharacters} are read`);
  const file = parsed(written);
  if (!isRecord(file) || file.format !== fileFormat)
    throw refused(`it is not a file of the format "${fileFormat}"`);
  if (file.version !== fileVersion) {
    const found = JSON.stringify(file.version)?.slice(0, 40) ?? "none";
    throw refused(`its version is ${found}, and this program reads version ${fileVersion}`);
  }
  const problem = fileShape(file, "file");
  if (problem) throw refused(problem);
  const { id, title, facts, blobs } = file as SessionFile;
  if (title !== undefined && title.length > longestTitle)
    throw refused(`its title has more than ${longestTitle} characters`);
  checkFacts(facts);
  for (const [handle, blob] of Object.entries(blobs)) blobData(blob, handle);
  return { id, facts, blobs, ...(title !== undefined && { title }) };
}

const isList = (value: unknown, path: string) =>
  Array.isArray(value) ? undefined : `${path} must be a list`;
const fileShape = record(
  {
    id: text,
    facts: isList,
    blobs: mapOf(either(record({ mediaType: text, text }), record({ mediaType: text, base64: text }))),
  },
  { title: text },
);

function parsed(written: string): unknown {
  let file: unknown;
  try {
    file = JSON.parse(written);
  } catch (thrown) {
    throw refused(`it is not JSON (${describeThrown(thrown, "invalid_input").message})`);
  }
  if (isDeeper(file, deepest)) throw refused(`it is nested deeper than ${deepest} levels`);
  return file;
}

/** Level by level, because a call per level is what deep nesting is made to break. */
function isDeeper(value: unknown, most: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}

function checkFacts(facts: readonly Fact[]): void {
  if (facts.length === 0) throw refused("it has no facts");
  if (facts.length > mostFacts)
    throw refused(`it has ${facts.length} facts, and at most ${mostFacts} are read`);
  const identities = new Set<string>();
  const runs = new Set<string>();
  /** Nested runs that are not over. */
  const inner = new Set<string>();
  let open: string | undefined;
  for (const [index, fact] of facts.entries()) {
    const refuse = (problem: string) => refused(`fact ${index + 1} cannot be read: ${problem}`);
    const problem = factShape(fact, "fact");
    if (problem) throw refuse(problem);
    if (fact.seq !== index + 1) throw refuse(`its seq is ${fact.seq}, so there is a gap`);
    if (fact.sessionId !== facts[0]?.sessionId) throw refuse("it belongs to another session");
    if (identities.has(identifyFact(fact))) throw refuse("it is there twice");
    identities.add(identifyFact(fact));
    if (isNested(fact)) {
      const isKnown = fact.type === "run_start" ? !runs.has(fact.runId) : inner.has(fact.runId);
      const parent = fact.parentRunId ?? "";
      if (!isKnown || fact.parentCallId === undefined || (parent !== open && !inner.has(parent)))
        throw refuse("it belongs to no nested run that has started and not ended");
      if (fact.type === "run_start") checkPolicyOf(fact, refuse);
      runs.add(fact.runId);
      inner.add(fact.runId);
      if (fact.type === "done") inner.delete(fact.runId);
      continue;
    }
    if (fact.type === "run_start") {
      if (open !== undefined) throw refuse(`the run "${open}" before it has not ended`);
      if (runs.has(fact.runId)) throw refuse(`the run "${fact.runId}" starts twice`);
      checkPolicyOf(fact, refuse);
      runs.add(fact.runId);
      open = fact.runId;
    } else if (fact.runId !== open) throw refuse(`it belongs to no run that has started and not ended`);
    if (fact.type !== "done") continue;
    open = undefined;
    inner.clear();
  }
  checkFold(facts);
}

function checkPolicyOf(
  fact: Extract<Fact, { type: "run_start" }>,
  refuse: (problem: string) => AgentError,
): void {
  try {
    checkPolicy(fact.policy);
  } catch (thrown) {
    throw refuse(describeThrown(thrown, "invalid_input").message);
  }
}

/** What cannot be folded can be neither shown nor continued. */
function checkFold(facts: readonly Fact[]): void {
  try {
    fold(facts[0]?.sessionId ?? "", facts);
  } catch (thrown) {
    throw refused(`its facts do not make a session (${describeThrown(thrown, "invalid_input").message})`);
  }
}

function refused(problem: string): AgentError {
  return new AgentError("invalid_input", `The session cannot be imported: ${problem}.`);
}
