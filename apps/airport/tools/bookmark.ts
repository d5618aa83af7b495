import { AgentError, defineTool, type Tool } from "capstan";
import type { Bookmarks } from "../bookmarks.ts";
import { getPlace, summarizePlace, type VenueContext } from "./venue-context.ts";

/** The server puts the user into the context. Without a context there is a single local user. */
function getUser(context: unknown): string {
  if (context === undefined) return "";
  const user = typeof context === "object" && context !== null ? Reflect.get(context, "user") : undefined;
  if (typeof user === "string") return user;
  throw new AgentError("unauthorized", "Cannot access bookmarks: the run has no user.");
}

/** Adds or removes a bookmark. Bookmarks outlive the conversation. */
export function bookmark(venueContext: VenueContext, bookmarks: Bookmarks): Tool {
  return defineTool({
    name: "bookmark",
    description:
      "Bookmarks a place. Bookmarks are kept across conversations. With remove, deletes the bookmark.",
    input: {
      type: "object",
      properties: {
        poiId: { type: "number", description: "The place, by its poiId from an earlier search" },
        remove: { type: "boolean", description: "Delete the bookmark instead" },
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
    reads: [venueContext.reads],
    idempotent: true,
    async execute({ poiId, remove = false }, { context }) {
      const { featureId, name } = getPlace(venueContext, poiId);
      await bookmarks.update(getUser(context), (ids) => {
        const others = ids.filter((id) => id !== featureId);
        return remove ? others : [...others, featureId];
      });
      return {
        message: remove ? `The bookmark for ${name} is removed.` : `${name} is bookmarked.`,
        data: { poiId, name, bookmarked: !remove },
      };
    },
  });
}

export function getBookmarks({ venue, reads }: VenueContext, bookmarks: Bookmarks): Tool {
  return defineTool({
    name: "getBookmarks",
    description: "Lists the places the user has bookmarked.",
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
    reads: reads === "untrusted" ? ["private", "untrusted"] : ["private"],
    async execute(_, { context }) {
      const ids = await bookmarks.list(getUser(context));
      // Bookmarks of other venues stay in the file but are not listed.
      const places = ids.flatMap((id) => venue.places.filter(({ featureId }) => featureId === id));
      return {
        message: places.length === 0 ? "There are no bookmarks." : `${places.length} bookmarked.`,
        data: { bookmarks: places.map((place) => summarizePlace(place)) },
      };
    },
  });
}

/** Deletes all bookmarks. This cannot be undone, so it needs approval. */
export function clearBookmarks(bookmarks: Bookmarks): Tool {
  return defineTool({
    name: "clearBookmarks",
    description: "Deletes all bookmarks of the user. To delete a single one, use bookmark with remove.",
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
    needsApproval: "Deletes all of your bookmarks.",
    async execute(_, { context }) {
      let removed = 0;
      await bookmarks.update(getUser(context), (ids) => {
        removed = ids.length;
        return [];
      });
      const message = removed === 1 ? "1 bookmark is removed." : `${removed} bookmarks are removed.`;
      return { message: removed === 0 ? "There are no bookmarks to remove." : message, data: { removed } };
    },
  });
}
