import { canarySuite } from "../testing/canary-suite.ts";

canarySuite(300);
