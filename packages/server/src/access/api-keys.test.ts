import { AgentError, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { expect, it } from "vitest";
import { apiKeys } from "./api-keys.ts";

const hour = 3_600_000;

it("creates a key whose secret is returned once and stored as a hash (A83)", async () => {
  const store = memory();
  const keys = apiKeys(store);
  const { secret, ...key } = await keys.create({ user: "ada", quotas: { concurrentRuns: 2 } });
  expect(secret).toMatch(/^cap_[\da-f]{16}_[\w-]{43}$/);
  expect(await keys.check(secret)).toEqual(key);
  expect(key).toMatchObject({ user: "ada", isAdmin: false, quotas: { concurrentRuns: 2 }, isRevoked: false });
  expect(await keys.list()).toEqual([key]);
  const kept = JSON.stringify(await store.listRecords("key"));
  expect(kept).not.toContain(secret.slice(-43));
  expect(JSON.stringify(await keys.list())).not.toContain("hash");
});

it("accepts no other secret, however similar (A83)", async () => {
  const keys = apiKeys(memory(), { own: "the-own-key-of-this-server" });
  const { secret } = await keys.create({ user: "ada" });
  const other = await apiKeys(memory()).create({ user: "ada" });
  const [, id, rest] = /^cap_(.{16})_(.*)$/.exec(secret) ?? [];
  const near = [
    ...[
      "",
      " ",
      "cap",
      "cap__",
      `cap_${id}_`,
      `cap_${id}_${rest}x`,
      `cap_${id}_${rest?.slice(1)}`,
      `${secret} `,
    ],
    ...[
      `CAP_${id}_${rest}`,
      secret.toLowerCase(),
      `cap_${id}_${other.secret.slice(21)}`,
      other.secret,
      rest ?? "",
    ],
    ...["the-own-key-of-this-serve", "the-own-key-of-this-server ", "x".repeat(1_000_000), "\u0000"],
    ...["cap_../../x_y", "cap___proto__00000000_x"],
  ];
  for (const guess of near.filter((one) => one !== secret))
    expect(await keys.check(guess), guess.slice(0, 80)).toBeUndefined();
  expect(await keys.check("the-own-key-of-this-server")).toMatchObject({ user: "", isAdmin: true });
});

it("once a key was set one is always needed, in every process, also when it is revoked (A83)", async () => {
  const store = memory();
  let now = 0;
  const [here, there] = [apiKeys(store, { now: () => now }), apiKeys(store, { now: () => now })];
  expect([await here.areNeeded(), await there.areNeeded()]).toEqual([false, false]);
  const { id, secret } = await here.create({ user: "ada" });
  expect(await here.areNeeded()).toBe(true);
  now += 1000;
  expect(await there.areNeeded()).toBe(true);
  await here.revoke(id);
  expect(await there.check(secret)).toBeUndefined();
  expect(await there.find(id)).toBeUndefined();
  expect(await apiKeys(store).areNeeded()).toBe(true);
});

it("the check whether a key is required runs at most once per second, not on every request (A83)", async () => {
  const real = memory();
  let looks = 0;
  const store: Store = {
    ...real,
    getRecord: (...asked) => {
      looks++;
      return real.getRecord(...asked);
    },
    listRecords: () => Promise.reject(new Error("a scan")),
  };
  let now = 0;
  const keys = apiKeys(store, { now: () => now });
  for (let request = 0; request < 100; request++) await keys.areNeeded();
  expect(looks).toBe(1);
  now += 1000;
  await keys.areNeeded();
  expect(looks).toBe(2);
});

it("a key that was seen expired stays so when the clock is set back, also after a restart (A120)", async () => {
  const store = memory();
  let now = 10 * hour;
  const keys = apiKeys(store, { now: () => now });
  const { secret, id } = await keys.create({ user: "ada", expiresAt: now + hour });
  expect(await keys.check(secret)).toMatchObject({ user: "ada" });
  now += hour;
  expect(await keys.check(secret)).toBeUndefined();
  now -= 5 * hour;
  expect(await keys.check(secret)).toBeUndefined();
  expect(await apiKeys(store, { now: () => now }).check(secret)).toBeUndefined();
  expect(await keys.find(id)).toBeUndefined();
});

it("concurrent requests with an expired key are all refused, without other errors (A120)", async () => {
  const store = memory();
  const { secret } = await apiKeys(store, { now: () => 1 }).create({ user: "ada", expiresAt: 2 });
  const keys = apiKeys(store, { now: () => 3 });
  expect(await Promise.all(Array.from({ length: 20 }, () => keys.check(secret)))).toEqual(
    Array.from({ length: 20 }, () => undefined),
  );
});

it.each([
  "a~b",
  "a b",
  "é",
  "a\u0000",
  "../x",
  "x".repeat(65),
  "ada~",
])("%j cannot be a user (A83, A119)", async (user) => {
  await expect(apiKeys(memory()).create({ user })).rejects.toThrow(AgentError);
});

it("an own key that could be guessed, or not be sent, is refused (A83)", () => {
  for (const own of ["", "short", "sixteen letters and blanks", "x".repeat(300)])
    expect(() => apiKeys(memory(), { own })).toThrow("must have 16 to 256 printable characters");
});
