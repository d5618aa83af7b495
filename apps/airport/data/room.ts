/** What a room of the plan is. */
export type RoomKind =
  | "gate"
  | "restroom"
  | "restaurant"
  | "cafe"
  | "shop"
  | "pharmacy"
  | "lounge"
  | "water"
  | "charging"
  | "information"
  | "checkpoint"
  | "checkin"
  | "baggage"
  | "atm"
  | "lift"
  | "stairs"
  | "escalator"
  | "closed";

/** A room: what it is, what it is called, and what can be found in it. */
export type Room = {
  readonly kind: RoomKind;
  readonly name: string;
  readonly keywords?: readonly string[];
  readonly description?: string;
  readonly hours?: string;
};

/** A piece of a wall with one room or several small ones. */
export type Slot = readonly Room[];

const daily = "Mo-Su 06:00-22:00";

export const gate = (name: string): Slot => [{ kind: "gate", name: `Gate ${name}` }];
export const gates = (...names: readonly string[]): Slot[] => names.map(gate);
export const restroom = (where: string): Slot => [
  { kind: "restroom", name: `Restroom ${where}`, description: "With baby changing and a wheelchair cabin." },
];
export const closed: Slot = [{ kind: "closed", name: "" }];
export const one = (kind: RoomKind, name: string, description?: string): Slot => [
  { kind, name, ...(description !== undefined && { description }) },
];

/** A place where people buy or eat: its keywords are what it sells. */
export function tenant(kind: RoomKind, name: string, sells: string): Slot {
  const keywords = sells.split(", ");
  const what = keywords.length > 1 ? `${keywords.slice(0, -1).join(", ")} and ${keywords.at(-1)}` : sells;
  return [
    { kind, name, keywords, description: `${what.charAt(0).toUpperCase()}${what.slice(1)}.`, hours: daily },
  ];
}

/** Water and sockets share a room. */
export const waterAndPower = (where: string): Slot => [
  { kind: "water", name: `Water Fountain ${where}`, description: "Drinking water, with a tap for bottles." },
  {
    kind: "charging",
    name: `Charging Station ${where}`,
    description: "Sockets and USB for phones and laptops.",
  },
];

/** Where one changes the level. The same room is on both levels. */
export const core = (where: string): Slot => [
  { kind: "lift", name: `Lift ${where}` },
  { kind: "stairs", name: `Stairs ${where}` },
  { kind: "escalator", name: `Escalator ${where}` },
];
export const stairsOnly = (where: string): Slot => [{ kind: "stairs", name: `Stairs ${where}` }];
