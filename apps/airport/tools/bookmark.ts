import { AgentError, defineTool, type Tool } from "capstan";
import type { Bookmarks } from "../bookmarks.ts";
import { type Concierge, knownPlace, listed } from "./concierge.ts";

/** The server tells who asks; alone on a machine there is one user, and nobody tells. */
function userOf(context: unknown): string {
  if (context === undefined) return "";
  const user = typeof context === "object" && context !== null ? Reflect.get(context, "user") : undefined;
  if (typeof user === "string") return user;
  throw new AgentError("unauthorized", "It is not known whose bookmarks these are.");
}

/** Keeps a place for later, or lets go of it. It lasts. */
export function bookmark(concierge: Concierge, bookmarks: Bookmarks): Tool {
  return defineTool({
    name: "bookmark",
    description:
      "Bookmarks a place: keeps it for later, also for other conversations. With remove, takes the bookmark away.",
    input: {
      type: "object",
      properties: {
        poiId: { type: "number", description: "The place, by its poiId from an earlier search" },
        remove: { type: "boolean", description: "Take the bookmark away" },
      },
      required: ["poiId"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "bookmark {poiId}" },
      { phrase: "save {poiId}" },
      { phrase: "save {poiId} for me" },
      { phrase: "remember {poiId}" },
      { phrase: "remove the bookmark of {poiId}", input: { remove: true } },
      { phrase: "delete {poiId} from my bookmarks", input: { remove: true } },
    ],
    effects: "state",
    reads: ["public"],
    idempotent: true,
    async execute({ poiId, remove = false }, { context }) {
      const { featureId, name } = knownPlace(concierge, poiId);
      await bookmarks.change(userOf(context), (kept) => {
        const others = kept.filter((id) => id !== featureId);
        return remove ? others : [...others, featureId];
      });
      return {
        message: remove ? `The bookmark of ${name} is removed.` : `${name} is bookmarked.`,
        data: { poiId, name, bookmarked: !remove },
      };
    },
  });
}

export function getBookmarks({ venue }: Concierge, bookmarks: Bookmarks): Tool {
  return defineTool({
    name: "getBookmarks",
    description: "Lists the places that the person has bookmarked.",
    input: { type: "object", properties: {}, additionalProperties: false },
    examples: [
      { phrase: "what are my bookmarks" },
      { phrase: "show my bookmarks" },
      { phrase: "list my saved places" },
      { phrase: "show my saved places" },
      { phrase: "what places have I saved" },
      { phrase: "what have I saved" },
      { phrase: "what did I save" },
      { phrase: "what have I bookmarked" },
      { phrase: "what did I bookmark" },
      { phrase: "which places did I bookmark" },
    ],
    effects: "none",
    reads: ["private"],
    async execute(_, { context }) {
      const kept = await bookmarks.list(userOf(context));
      // A bookmark of another venue stays in the file, and is not shown here.
      const places = kept.flatMap((id) => venue.places.filter(({ featureId }) => featureId === id));
      return {
        message: places.length === 0 ? "There are no bookmarks." : `${places.length} bookmarked.`,
        data: { bookmarks: places.map((place) => listed(place)) },
      };
    },
  });
}

/** Lets go of all at once. That cannot be taken back, so it is asked for first. */
export function clearBookmarks(bookmarks: Bookmarks): Tool {
  return defineTool({
    name: "clearBookmarks",
    description: "Takes away all bookmarks of the person. For a single one, use bookmark with remove.",
    input: { type: "object", properties: {}, additionalProperties: false },
    examples: [
      { phrase: "delete all my bookmarks" },
      { phrase: "remove all my bookmarks" },
      { phrase: "clear my bookmarks" },
      { phrase: "delete all my saved places" },
      { phrase: "forget all my bookmarks" },
    ],
    effects: "state",
    reads: ["private"],
    idempotent: true,
    needsApproval: "Takes away all of your bookmarks.",
    async execute(_, { context }) {
      let removed = 0;
      await bookmarks.change(userOf(context), (kept) => {
        removed = kept.length;
        return [];
      });
      const words = removed === 1 ? "1 bookmark is removed." : `${removed} bookmarks are removed.`;
      return { message: removed === 0 ? "There are no bookmarks to remove." : words, data: { removed } };
    },
  });
}
