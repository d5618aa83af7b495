import { canonical } from "../../json.ts";
import type { ModelRequest } from "../../model.ts";
import { correctCall } from "./correct-call.ts";
import { type Call, type Done, doneSince } from "./done-calls.ts";
import { type Property, propertiesOf } from "./properties.ts";
import { refersBack } from "./refer-back.ts";
import { anyWish, fill, understand, type Wish } from "./understand.ts";
import { fillers, nameWords, wordsOf } from "./words.ts";

/** What to do next: call tools, ask for an argument, or answer from what there is. */
export type Step =
  | { readonly type: "call"; readonly calls: readonly Call[]; readonly why: string }
  | { readonly type: "ask"; readonly tool: string; readonly property: Property }
  | { readonly type: "answer" };

export function planStep(request: ModelRequest): Step {
  const { history, tools, toolChoice } = request;
  const done = doneSince(history);
  const wishes = understand(request);
  if (toolChoice === "none" || tools.length === 0) return { type: "answer" };
  const corrected = correctCall(request, done);
  if (corrected && isNew(corrected, done))
    return {
      type: "call",
      calls: [corrected],
      why: `The error tells how to correct the call of ${corrected.name}.`,
    };
  const step = stepFor(leftOf(wishes, done), request, done);
  if (step.type === "call" || toolChoice !== "required") return step;
  // It must call: any tool will do that it can fill.
  return stepForced(request, done) ?? step;
}

const isNew = ({ name, input }: Call, done: readonly Done[]): boolean =>
  done.every(({ call }) => call.name !== name || canonical(call.input) !== canonical(input));

/** The wishes that no call has been made for. A call that failed and was made again counts once. */
function leftOf(wishes: readonly Wish[], done: readonly Done[]): Wish[] {
  const counts = new Map<string, number>();
  for (const [at, { call, result }] of done.entries()) {
    const isRetried =
      result?.status === "error" && done.slice(at + 1).some((later) => later.call.name === call.name);
    if (!isRetried) counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  }
  return wishes.filter(({ match: { tool } }) => {
    const count = counts.get(tool.name) ?? 0;
    counts.set(tool.name, count - 1);
    return count <= 0;
  });
}

function stepFor(wishes: readonly Wish[], request: ModelRequest, done: readonly Done[]): Step {
  const { history } = request;
  const calls: Call[] = [];
  let why = "";
  for (const wish of wishes) {
    const { tool, example } = wish.match;
    // "Make them blue" waits for what "find all cats" finds.
    if (calls.length > 0 && refersBack(wish.words)) break;
    const { input, missing } = fill(wish, history);
    const [property] = missing;
    if (property) {
      if (calls.length > 0) break;
      const search = searchFirst(wish, property, request);
      if (search && isNew(search, done))
        return {
          type: "call",
          calls: [search],
          why: `${tool.name} needs ${property.name}: ${search.name} may find it.`,
        };
      // What the earlier steps gave says more than a question would.
      if (done.length > 0) break;
      return { type: "ask", tool: tool.name, property };
    }
    const call = { name: tool.name, input };
    if (!isNew(call, done) || !calls.every((other) => canonical([other]) !== canonical([call]))) continue;
    calls.push(call);
    why ||= example?.said
      ? `The request is like the example "${example.says}" of ${tool.name}.`
      : `The words of the request fit ${tool.name} best.`;
  }
  return calls.length > 0 ? { type: "call", calls, why } : { type: "answer" };
}

/** When an id is missing: the search that may find it, by what else was said. */
function searchFirst(wish: Wish, missing: Property, { tools, history }: ModelRequest): Call | undefined {
  if (!/(?:^i|I|_i)ds?$/u.test(missing.name) || refersBack(wish.words)) return undefined;
  const own = nameWords(wish.match.tool.name);
  const about = wordsOf(wish.match.tool.description).map(({ stem }) => stem);
  // "Show Whiskers on the map": the search is for Whiskers.
  const words = wish.words.filter(
    ({ raw, stem }) => !own.includes(stem) && (/^\p{Lu}/u.test(raw) || !about.includes(stem)),
  );
  for (const tool of tools) {
    const isSearch = nameWords(tool.name).some((part) => /^(?:search|find|lookup|query)$/u.test(part));
    // The id of a person is no id of an event: the search has to be about the same kind of thing.
    const topics = [...nameWords(tool.name), ...wordsOf(tool.description).map(({ stem }) => stem)];
    const isRelated = [...own, ...about, ...nameWords(missing.name)].some(
      (topic) => topic !== "id" && !fillers.has(topic) && topics.includes(topic),
    );
    if (!isRelated) continue;
    if (!isSearch || tool === wish.match.tool || propertiesOf(tool).some(({ name }) => name === missing.name))
      continue;
    const filled = fill({ match: { tool, score: 0 }, words, given: {} }, history);
    if (filled.missing.length === 0 && Object.keys(filled.input).length > 0)
      return { name: tool.name, input: filled.input };
  }
  return undefined;
}

function stepForced(request: ModelRequest, done: readonly Done[]): Step | undefined {
  for (const wish of anyWish(request)) {
    const { input, missing } = fill(wish, request.history);
    const call = { name: wish.match.tool.name, input };
    if (missing.length === 0 && isNew(call, done))
      return { type: "call", calls: [call], why: `A tool must be called, and ${call.name} can be.` };
  }
  return undefined;
}
