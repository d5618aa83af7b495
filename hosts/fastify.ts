import { toNodeHandler } from "@capstan/server";
import fastify from "fastify";
import { server } from "./server.ts";

const handle = toNodeHandler(server);
const app = fastify();
await app.register(
  async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null)); // the server reads the body
    scope.all("/*", (request, reply) => {
      reply.hijack();
      handle(request.raw, reply.raw);
    });
  },
  { prefix: "/agents" },
);
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
