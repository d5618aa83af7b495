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

export type Room = {
  readonly kind: RoomKind;
  readonly name: string;
  readonly keywords?: readonly string[];
  readonly description?: string;
  readonly hours?: string;
};

/** A section of a wall with one room or several small ones. */
export type Slot = readonly Room[];

const openingHours = "Mo-Su 06:00-22:00";

export const createGate = (name: string): Slot => [{ kind: "gate", name: `Gate ${name}` }];
export const createGates = (...names: readonly string[]): Slot[] => names.map(createGate);
export const createRestroom = (where: string): Slot => [
  { kind: "restroom", name: `Restroom ${where}`, description: "With baby changing and a wheelchair cabin." },
];
export const closedSlot: Slot = [{ kind: "closed", name: "" }];
export const createRoom = (kind: RoomKind, name: string, description?: string): Slot => [
  { kind, name, ...(description !== undefined && { description }) },
];

/** A shop, restaurant or lounge. Its keywords are what it offers. */
export function createTenant(kind: RoomKind, name: string, sells: string): Slot {
  const keywords = sells.split(", ");
  const offer = keywords.length > 1 ? `${keywords.slice(0, -1).join(", ")} and ${keywords.at(-1)}` : sells;
  return [
    {
      kind,
      name,
      keywords,
      description: `${offer.charAt(0).toUpperCase()}${offer.slice(1)}.`,
      hours: openingHours,
    },
  ];
}

/** A fountain and a charging station side by side. */
export const createWaterAndPower = (where: string): Slot => [
  { kind: "water", name: `Water Fountain ${where}`, description: "Drinking water, with a tap for bottles." },
  {
    kind: "charging",
    name: `Charging Station ${where}`,
    description: "Sockets and USB for phones and laptops.",
  },
];

/** Lift, stairs and escalator. The same name on both levels links them. */
export const createCore = (where: string): Slot => [
  { kind: "lift", name: `Lift ${where}` },
  { kind: "stairs", name: `Stairs ${where}` },
  { kind: "escalator", name: `Escalator ${where}` },
];
export const createStairs = (where: string): Slot => [{ kind: "stairs", name: `Stairs ${where}` }];
