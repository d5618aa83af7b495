import { offline } from "capstan/models/offline";
import { talksSuite } from "capstan/testing/talks-suite";
import { knowledge } from "./agent.ts";
import { library } from "./library/library.ts";
import { talks } from "./talks.ts";

const shelf = library({ keptIn: false });

talksSuite(
  "the search assistant",
  async () => (await knowledge({ model: offline(), library: shelf }))[0],
  talks,
);
