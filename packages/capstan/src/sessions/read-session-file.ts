import { AgentError, describeThrown } from "../errors.ts";
import { type Fact, factVersion } from "../event.ts";
import { identifyFact } from "../ids.ts";
import { isRecord } from "../json.ts";
import { checkPolicy } from "../policy.ts";
import { apply } from "../state/apply.ts";
import { createState } from "../state/state.ts";
import { isNested, pageSize, toPages, yieldToEventLoop } from "./load-facts.ts";
import { decodeBlob, fileFormat, fileVersion, type SessionFile } from "./session-file.ts";
import { validateFact } from "./validate-fact.ts";
import { object, record, string, union } from "./validators.ts";

const maxCharacters = 64_000_000;
const maxFacts = 100_000;
const maxDepth = 128;
const maxTitleLength = 1000;

/**
 * Parses a session file. Throws `invalid_input` naming the fact and the problem if the file is not a complete session,
 * and `newer_version` if a newer version of Capstan wrote it.
 */
export async function readSessionFile(text: string): Promise<SessionFile> {
  if (text.length > maxCharacters)
    throw createImportError(`it has ${text.length} characters; the limit is ${maxCharacters}`);
  const file = parseFile(text);
  if (!isRecord(file) || file.format !== fileFormat)
    throw createImportError(`it is not a file of the format "${fileFormat}"`);
  assertKnownVersion("version", file.version, fileVersion);
  assertKnownVersion("factVersion", file.factVersion ?? 1, factVersion);
  const problem = validateFile(file, "file");
  if (problem) throw createImportError(problem);
  const { id, title, facts, blobs } = file as SessionFile;
  if (title !== undefined && title.length > maxTitleLength)
    throw createImportError(`the title has more than ${maxTitleLength} characters`);
  await assertValidFacts(facts);
  for (const [handle, blob] of Object.entries(blobs)) decodeBlob(blob, handle);
  return { id, facts, blobs, ...(title !== undefined && { title }) };
}

/** Throws `newer_version` for a file that a newer version of Capstan wrote. */
function assertKnownVersion(field: string, version: unknown, newest: number): void {
  if (!Number.isInteger(version) || Number(version) < 1)
    throw createImportError(`its ${field} is invalid: ${JSON.stringify(version)?.slice(0, 40) ?? "none"}`);
  if (Number(version) <= newest) return;
  const problem = `a newer version of Capstan wrote it (${field} ${version}; this process reads up to ${newest})`;
  throw new AgentError("newer_version", `Cannot import the session: ${problem}. Update this process.`);
}

const validateArray = (value: unknown, path: string) =>
  Array.isArray(value) ? undefined : `${path} must be an array`;
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
  if (isDeeperThan(file, maxDepth)) throw createImportError(`it is nested more than ${maxDepth} levels deep`);
  return file;
}

/** Iterates level by level: recursion would overflow the stack on deeply nested input. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}

async function assertValidFacts(facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) throw createImportError("it has no facts");
  if (facts.length > maxFacts)
    throw createImportError(`it has ${facts.length} facts; the limit is ${maxFacts}`);
  const seenFacts = new Set<string>();
  const startedRuns = new Set<string>();
  const openNestedRuns = new Set<string>();
  let openRunId: string | undefined;
  for (const [index, fact] of facts.entries()) {
    if (index % pageSize === pageSize - 1) await yieldToEventLoop();
    const createFactError = (problem: string) =>
      createImportError(`fact ${index + 1} is invalid: ${problem}`);
    const problem = validateFact(fact, "fact");
    if (problem) throw createFactError(problem);
    if (fact.seq !== index + 1) throw createFactError(`expected seq ${index + 1}, got ${fact.seq}`);
    if (fact.sessionId !== facts[0]?.sessionId) throw createFactError("it belongs to another session");
    if (seenFacts.has(identifyFact(fact))) throw createFactError("it is a duplicate");
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
        throw createFactError("it does not belong to an active nested run");
      if (fact.type === "run_start") assertValidPolicy(fact, createFactError);
      startedRuns.add(fact.runId);
      openNestedRuns.add(fact.runId);
      if (fact.type === "done") openNestedRuns.delete(fact.runId);
      continue;
    }
    if (fact.type === "run_start") {
      if (openRunId !== undefined) throw createFactError(`the previous run "${openRunId}" has not ended`);
      if (startedRuns.has(fact.runId)) throw createFactError(`the run "${fact.runId}" starts twice`);
      assertValidPolicy(fact, createFactError);
      startedRuns.add(fact.runId);
      openRunId = fact.runId;
    } else if (fact.type === "retried") {
      const before = facts[index - 1];
      if (before?.type !== "done" || before.runId !== fact.runId || !before.canRetry)
        throw createFactError("it does not follow the end of a run that can be retried");
      openRunId = fact.runId;
    } else if (fact.runId !== openRunId) throw createFactError("it does not belong to an active run");
    if (fact.type !== "done") continue;
    openRunId = undefined;
    openNestedRuns.clear();
  }
  await assertFoldable(facts);
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

/** Facts that cannot be folded can be neither shown nor continued. */
async function assertFoldable(facts: readonly Fact[]): Promise<void> {
  const state = createState(facts[0]?.sessionId ?? "");
  try {
    for await (const page of toPages(facts)) for (const fact of page) apply(state, fact);
  } catch (thrown) {
    throw createImportError(
      `the facts do not form a session (${describeThrown(thrown, "invalid_input").message})`,
    );
  }
}

function createImportError(problem: string): AgentError {
  return new AgentError("invalid_input", `Cannot import the session: ${problem}.`);
}
