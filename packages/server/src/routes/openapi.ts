import { z } from "zod";
import { openApi } from "../views/openapi.ts";
import { defineRoute, type Route } from "./route.ts";

/** The document that describes these routes, and itself. */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  let text: string | undefined;
  const own: readonly Route[] = [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document.",
      answers: {
        200: {
          description: "OpenAPI 3.1.",
          schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }),
        },
      },
      async handle() {
        text ??= JSON.stringify(openApi([...routes, ...own]));
        return new Response(text, { headers: { "content-type": "application/json" } });
      },
    }),
  ];
  return own;
}
