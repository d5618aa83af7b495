import { storeSuite } from "../testing/store-suite.ts";
import { memory } from "./memory.ts";

storeSuite("memory", memory);
