import { AgentError, describeThrown } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { type Fact, factVersion } from "../kernel/event.ts";
import { checkPolicy } from "../kernel/policy.ts";
import { createState } from "../kernel/state.ts";
import { apply } from "../runtime/facts.ts";
import { pageSize, toPages, yieldToEventLoop } from "../runtime/load-facts.ts";
import { createOrderCheck } from "./fact-order.ts";
import { factShape } from "./fact-shapes.ts";
import { findProblem } from "./rebuild-value.ts";
import { decodeBlob, type FileBlob, fileFormat, fileVersion, type SessionFile } from "./session-file.ts";
import { array, either, json, keep, keepOptional, object, record, string } from "./shapes.ts";

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
  const file = await parseFile(text);
  if (!isRecord(file) || file.format !== fileFormat)
    throw createImportError(`it is not a file of the format "${fileFormat}"`);
  assertKnownVersion("version", file.version, fileVersion);
  assertKnownVersion("factVersion", file.factVersion ?? 1, factVersion);
  const problem = findProblem(fileShape, file, "file");
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

type BlobOf<Field extends string> = Extract<FileBlob, { readonly [Name in Field]: string }>;
const fileShape = object<FileContent>({
  ...{ id: keep(string), title: keepOptional(string), facts: keep(array(json)) },
  blobs: keep(
    record(
      either(
        object<BlobOf<"text">>({ mediaType: keep(string), text: keep(string) }),
        object<BlobOf<"base64">>({ mediaType: keep(string), base64: keep(string) }),
      ),
    ),
  ),
});
type FileContent = Omit<SessionFile, "facts"> & { readonly facts: readonly Json[] };

async function parseFile(text: string): Promise<unknown> {
  try {
    return (await parseInPages(text)) ?? parseWithin(text, maxDepth);
  } catch (thrown) {
    if (thrown instanceof AgentError) throw thrown;
    throw createImportError(`it is not JSON (${describeThrown(thrown, "invalid_input").message})`);
  }
}

/**
 * Parses a file as it was exported, with one fact per line, in pages: all at once would block the process. Returns
 * undefined for any other layout.
 */
async function parseInPages(text: string): Promise<unknown> {
  const start = text.indexOf(factsStart) + factsStart.length;
  const end = text.indexOf(factsEnd, start);
  if (start < factsStart.length || end === -1) return undefined;
  const facts: unknown[] = [];
  for (let from = start; from < end; await yieldToEventLoop()) {
    const until = findPageEnd(text, from, end);
    // A line ends with a comma, except the last one.
    const page = text.slice(from, until).replace(/,\s*$/, "");
    facts.push(...(parseWithin(`[${page}]`, maxDepth - 1) as unknown[]));
    from = until;
  }
  const rest = parseWithin(text.slice(0, start) + text.slice(end), maxDepth);
  return isRecord(rest) ? { ...rest, facts } : undefined;
}

const factsStart = '\n"facts":[';
const factsEnd = '\n],\n"blobs":{';
/** Characters that are parsed at once, in a few milliseconds. */
const pageLength = 500_000;

function findPageEnd(text: string, from: number, end: number): number {
  const line = text.indexOf("\n", from + pageLength);
  return line === -1 || line > end ? end : line;
}

function parseWithin(text: string, depth: number): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value, depth)) throw createImportError(`it is nested more than ${maxDepth} levels deep`);
  return value;
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
  const findOrderProblem = createOrderCheck();
  for (const [index, fact] of facts.entries()) {
    if (index % pageSize === pageSize - 1) await yieldToEventLoop();
    const problem = findProblem(factShape, fact, "fact") ?? findOrderProblem(fact) ?? findPolicyProblem(fact);
    if (problem) throw createImportError(`fact ${index + 1} is invalid: ${problem}`);
  }
}

function findPolicyProblem(fact: Fact): string | undefined {
  try {
    if (fact.type === "run_start") checkPolicy(fact.policy);
    return undefined;
  } catch (thrown) {
    return describeThrown(thrown, "invalid_input").message;
  }
}

/** Facts that cannot be folded can be neither shown nor continued. */
export async function assertFoldable(facts: readonly Fact[]): Promise<void> {
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
