import { AgentError, describeThrown } from "../errors.ts";
import type { Fact } from "../event.ts";
import { identifyFact } from "../ids.ts";
import { isRecord } from "../json.ts";
import { checkPolicy } from "../policy.ts";
import { fold } from "../state/apply.ts";
import { isNested } from "./load-facts.ts";
import { decodeBlob, fileFormat, fileVersion, type SessionFile } from "./session-file.ts";
import { validateFact } from "./validate-fact.ts";
import { object, record, string, union } from "./validators.ts";

const maxCharacters = 64_000_000;
const maxFacts = 100_000;
const maxDepth = 128;
const maxTitleLength = 1000;

/** Reads the text of a file, and refuses what is not a whole session, saying what is wrong with which fact. */
export function readSessionFile(text: string): SessionFile {
  if (text.length > maxCharacters)
    throw createImportError(`it has ${text.length} characters, and at most ${maxCharacters} are read`);
  const file = parseFile(text);
  if (!isRecord(file) || file.format !== fileFormat)
    throw createImportError(`it is not a file of the format "${fileFormat}"`);
  if (file.version !== fileVersion) {
    const version = JSON.stringify(file.version)?.slice(0, 40) ?? "none";
    throw createImportError(`its version is ${version}, and this program reads version ${fileVersion}`);
  }
  const problem = validateFile(file, "file");
  if (problem) throw createImportError(problem);
  const { id, title, facts, blobs } = file as SessionFile;
  if (title !== undefined && title.length > maxTitleLength)
    throw createImportError(`its title has more than ${maxTitleLength} characters`);
  assertValidFacts(facts);
  for (const [handle, blob] of Object.entries(blobs)) decodeBlob(blob, handle);
  return { id, facts, blobs, ...(title !== undefined && { title }) };
}

const validateArray = (value: unknown, path: string) =>
  Array.isArray(value) ? undefined : `${path} must be a list`;
const validateFile = object(
  {
    id: string,
    facts: validateArray,
    blobs: record(
      union(object({ mediaType: string, text: string }), object({ mediaType: string, base64: string })),
    ),
  },
  { title: string },
);

function parseFile(text: string): unknown {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (thrown) {
    throw createImportError(`it is not JSON (${describeThrown(thrown, "invalid_input").message})`);
  }
  if (isDeeperThan(file, maxDepth)) throw createImportError(`it is nested deeper than ${maxDepth} levels`);
  return file;
}

/** Level by level, because a call per level is what deep nesting is made to break. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}

function assertValidFacts(facts: readonly Fact[]): void {
  if (facts.length === 0) throw createImportError("it has no facts");
  if (facts.length > maxFacts)
    throw createImportError(`it has ${facts.length} facts, and at most ${maxFacts} are read`);
  const seenFacts = new Set<string>();
  const startedRuns = new Set<string>();
  /** Nested runs that are not over. */
  const openNestedRuns = new Set<string>();
  let openRunId: string | undefined;
  for (const [index, fact] of facts.entries()) {
    const createFactError = (problem: string) =>
      createImportError(`fact ${index + 1} cannot be read: ${problem}`);
    const problem = validateFact(fact, "fact");
    if (problem) throw createFactError(problem);
    if (fact.seq !== index + 1) throw createFactError(`its seq is ${fact.seq}, so there is a gap`);
    if (fact.sessionId !== facts[0]?.sessionId) throw createFactError("it belongs to another session");
    if (seenFacts.has(identifyFact(fact))) throw createFactError("it is there twice");
    seenFacts.add(identifyFact(fact));
    if (isNested(fact)) {
      const isExpected =
        fact.type === "run_start" ? !startedRuns.has(fact.runId) : openNestedRuns.has(fact.runId);
      const parent = fact.parentRunId ?? "";
      if (
        !isExpected ||
        fact.parentCallId === undefined ||
        (parent !== openRunId && !openNestedRuns.has(parent))
      )
        throw createFactError("it belongs to no nested run that has started and not ended");
      if (fact.type === "run_start") assertValidPolicy(fact, createFactError);
      startedRuns.add(fact.runId);
      openNestedRuns.add(fact.runId);
      if (fact.type === "done") openNestedRuns.delete(fact.runId);
      continue;
    }
    if (fact.type === "run_start") {
      if (openRunId !== undefined) throw createFactError(`the run "${openRunId}" before it has not ended`);
      if (startedRuns.has(fact.runId)) throw createFactError(`the run "${fact.runId}" starts twice`);
      assertValidPolicy(fact, createFactError);
      startedRuns.add(fact.runId);
      openRunId = fact.runId;
    } else if (fact.runId !== openRunId)
      throw createFactError(`it belongs to no run that has started and not ended`);
    if (fact.type !== "done") continue;
    openRunId = undefined;
    openNestedRuns.clear();
  }
  assertFoldable(facts);
}

function assertValidPolicy(
  fact: Extract<Fact, { type: "run_start" }>,
  createFactError: (problem: string) => AgentError,
): void {
  try {
    checkPolicy(fact.policy);
  } catch (thrown) {
    throw createFactError(describeThrown(thrown, "invalid_input").message);
  }
}

/** What cannot be folded can be neither shown nor continued. */
function assertFoldable(facts: readonly Fact[]): void {
  try {
    fold(facts[0]?.sessionId ?? "", facts);
  } catch (thrown) {
    throw createImportError(
      `its facts do not make a session (${describeThrown(thrown, "invalid_input").message})`,
    );
  }
}

function createImportError(problem: string): AgentError {
  return new AgentError("invalid_input", `The session cannot be imported: ${problem}.`);
}
