import type { Conversation } from "capstan/testing/conversation-suite";
import { bookmarks } from "./conversations/bookmarks.ts";
import { limits } from "./conversations/limits.ts";
import { places } from "./conversations/places.ts";
import { routes } from "./conversations/routes.ts";
import { venue } from "./conversations/venue.ts";

/** Questions travelers ask, with the expected calls and answers. */
export const conversations: readonly Conversation[] = [
  ...places,
  ...routes,
  ...venue,
  ...bookmarks,
  ...limits,
];
