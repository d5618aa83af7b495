export { inProcessBus } from "./in-process.ts";
export { type NatsBusOptions, type NatsConnection, natsBus } from "./nats.ts";
export { type RedisBusOptions, type RedisPublisher, type RedisSubscriber, redisBus } from "./redis.ts";
