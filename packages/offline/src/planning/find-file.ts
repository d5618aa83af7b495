import { type ResultEntry, type ToolSpec, toPlainText } from "capstan";
import { type Call, isNewCall } from "../dialog/call-records.ts";
import { isAddress, isPathName } from "../language/read-value.ts";
import { computeDistance, isSimilar, tokenize, toNameStems, toStem } from "../language/words.ts";
import { findBestExample } from "../matching/match-tool.ts";
import { getProperties } from "../matching/properties.ts";
import { getVocabulary } from "../matching/vocabulary.ts";
import type { PlanContext, Step } from "./step.ts";

/** A call with the path that the user meant, or the step that finds it. */
export type FileSearch = { readonly call: Call } | { readonly step: Step };

/**
 * Finds the file that a call names in words ("the config file", "the Python one") or with a typo, by listing the files.
 * Undefined if the path needs no search, or if nothing is like it.
 */
export function findFile(call: Call, plan: PlanContext): FileSearch | undefined {
  const { request, records } = plan;
  const tool = request.tools.find(({ name }) => name === call.name);
  const property = tool && getProperties(tool).find(({ name, required }) => required && isPathName(name));
  const path = property && call.input[property.name];
  if (!tool || !property || typeof path !== "string" || isCreating(tool) || /^https?:/u.test(path))
    return undefined;
  const failed = records.find(
    (made) => made.result?.status === "error" && made.call.input[property.name] === path,
  );
  const isMissing = failed?.result && reportsMissing(failed.result, path);
  if (isAddress(path) ? !isMissing : failed) return undefined;
  const phrase = path.replace(/\s+(?:files?|scripts?|documents?|ones?|program)$/iu, "");
  const listing = createListCall(phrase, request.tools);
  const listed = listing && records.find((made) => !isNewCall(listing, [made.call]));
  if (!listing) return undefined;
  if (!listed)
    return { step: { type: "call", calls: [listing], why: `The files are listed to find "${path}".` } };
  const lines = listed.result ? toPlainText(listed.result.content).split("\n") : [];
  const paths = lines.filter((line) => isAddress(line) && !line.endsWith("/") && !/\s/u.test(line));
  const found = listing.isExact ? paths : paths.filter((one) => isMeant(one, phrase));
  const [only, ...others] = found;
  if (only === undefined) return undefined;
  if (others.length > 0)
    return { step: { type: "which", phrase: path, candidates: found.map((one) => ({ path: one })) } };
  return { call: { name: call.name, input: { ...call.input, [property.name]: only } } };
}

/** "File not found" and the path, not a text that is missing in the file. */
function reportsMissing({ content, error }: ResultEntry, path: string): boolean {
  const message = error?.message ?? toPlainText(content);
  const at = message.indexOf(path);
  return at >= 0 && /(?:not found|no such file)[^\p{L}]*$/iu.test(message.slice(0, at));
}

const isCreating = ({ name }: ToolSpec): boolean =>
  toNameStems(name).some((part) => /^(?:write|create|save|list|search|find)$/u.test(part));

/** A call that lists the files of the kind that the phrase names, or else all files. */
function createListCall(
  phrase: string,
  tools: readonly ToolSpec[],
): (Call & { isExact: boolean }) | undefined {
  const known = getVocabulary(tools).tools.find(
    ({ name }) => name.includes("list") && name.some((part) => part === "file"),
  );
  if (!known) return undefined;
  const kind = isAddress(phrase) ? undefined : findBestExample(tokenize(`list all ${phrase} files`), known);
  const isExact = kind !== undefined && kind.slots.size === 0;
  const all = isExact ? kind : findBestExample(tokenize("list all files in all folders"), known);
  return { name: known.tool.name, input: all?.input ?? {}, isExact };
}

/** True if the phrase is the path, its file name or a word in it, also with a typo. */
function isMeant(path: string, phrase: string): boolean {
  const said = phrase.toLowerCase();
  const name = path.toLowerCase().split("/").at(-1) ?? "";
  if (isAddress(phrase)) return [path.toLowerCase(), name].some((one) => computeDistance(one, said) <= 2);
  const parts = toNameStems(name.replace(/\.\w+$/u, ""));
  const words = tokenize(said).map(({ stem }) => toStem(stem));
  return words.length > 0 && words.every((word) => parts.some((part) => isSimilar(part, word)));
}
