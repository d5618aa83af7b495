import { canarySuite } from "../testing/canary-suite.ts";

canarySuite(10_000);
