export { type DbosEngine, type DbosOptions, dbos } from "./dbos.ts";
