import type { Conversation } from "capstan/testing/conversation-suite";
import { bookmarks } from "./talks/bookmarks.ts";
import { limits } from "./talks/limits.ts";
import { places } from "./talks/places.ts";
import { venue } from "./talks/venue.ts";
import { ways } from "./talks/ways.ts";

/** What people ask at an airport, and what must come of it. */
export const talks: readonly Conversation[] = [...places, ...ways, ...venue, ...bookmarks, ...limits];
