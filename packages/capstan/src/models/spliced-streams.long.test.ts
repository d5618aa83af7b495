import { spliceSuite } from "../testing/splice-suite.ts";

spliceSuite(4000, 2);
