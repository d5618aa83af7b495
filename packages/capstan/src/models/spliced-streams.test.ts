import { spliceSuite } from "../testing/splice-suite.ts";

spliceSuite(80, 1);
