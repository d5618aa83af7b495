export type { Endpoint, ListenOptions } from "./endpoint.ts";
export type { IngressOptions } from "./ingress.ts";
export type { RegisterOptions } from "./register.ts";
export { type RestateEngine, type RestateOptions, restate } from "./restate.ts";
