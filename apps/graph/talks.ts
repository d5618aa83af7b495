// What people say to the graph explorer, in the words they would use, and what must come of it.

import type { Talk } from "capstan/testing/talks-suite";
import { doing } from "./talks/doing.ts";
import { isHonest } from "./talks/honest.ts";
import { seeing } from "./talks/seeing.ts";

const outside: readonly Talk[] = [
  [{ says: "Hello", calls: [] }],
  [{ says: "thanks!", calls: [], answers: ["welcome"] }],
  [{ says: "What can you do?", calls: [], answers: ["findNodes"] }],
  [{ says: "What will the weather be tomorrow?", calls: [], answers: [isHonest] }],
  [{ says: "Send an email to Ada", calls: [], answers: [isHonest] }],
  [{ says: "Delete the node Shadow", calls: [], answers: [isHonest] }],
  [{ says: "Who wrote Les Misérables?", calls: [], answers: [isHonest], never: ["Hugo"] }],
];

export const talks: readonly Talk[] = [...seeing, ...doing, ...outside];
