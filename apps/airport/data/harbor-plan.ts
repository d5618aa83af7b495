// The floor plan of Harbor International, a fictional airport. Slots run from south to north in concourses and from west
// to east in terminals. Concourses A and D both have gates 1 to 24, so that "Gate 15" is ambiguous.

import {
  closedSlot,
  createCore,
  createGate,
  createGates,
  createRestroom,
  createRoom,
  createStairs,
  createTenant,
  createWaterAndPower,
  type Slot,
} from "./room.ts";

/** A walkway of a concourse on one level, with its two walls. `from` is the index of its first slot. */
export type Pier = {
  readonly level: 1 | 2;
  readonly from: number;
  readonly west: readonly Slot[];
  readonly east: readonly Slot[];
};

export type Concourse = {
  readonly name: string;
  /** Center of the walkway, in metres east of the corner of Terminal 1. */
  readonly x: number;
  readonly piers: readonly Pier[];
};

/** Departures are on level 2 with a checkpoint in the middle; arrivals on level 1. */
export type Terminal = {
  readonly name: string;
  readonly west: number;
  readonly east: number;
  readonly concourses: readonly Concourse[];
  readonly landside: readonly Slot[];
  readonly airside: readonly Slot[];
  readonly arrivals: readonly Slot[];
  readonly baggage: readonly Slot[];
};

const createCoffeeShop = (): Slot =>
  createTenant("cafe", "Lighthouse Coffee", "coffee, espresso, tea, pastries, breakfast");
const createNewsstand = (): Slot =>
  createTenant("shop", "Dockside News", "newspapers, books, magazines, snacks, travel adapters");

const concourseA: Concourse = {
  name: "Concourse A",
  x: 100,
  piers: [
    {
      level: 2,
      from: 0,
      west: [
        createCore("Concourse A"),
        createRestroom("Concourse A South"),
        ...createGates("A1", "A3", "A5"),
        createTenant("restaurant", "Pier Nine Noodles", "noodles, ramen, asian, chinese, soup"),
        createNewsstand(),
        ...createGates("A7", "A9", "A11"),
        createRestroom("Concourse A North"),
        createTenant("cafe", "Tide Café", "coffee, cake, ice cream, sandwiches"),
        ...createGates("A13", "A15", "A17"),
      ],
      east: [
        createWaterAndPower("Concourse A South"),
        createRoom("information", "Information Desk Concourse A"),
        ...createGates("A2", "A4", "A6"),
        createCoffeeShop(),
        createTenant("lounge", "Skyline Lounge", "business lounge, showers, quiet, wifi"),
        ...createGates("A8", "A10", "A12"),
        createWaterAndPower("Concourse A North"),
        createTenant("restaurant", "Anchor Burgers", "burgers, american, fries, fast food"),
        ...createGates("A14", "A16", "A18"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [createCore("Concourse A"), ...createGates("A19", "A21", "A23")],
      east: [createRestroom("Concourse A Ground"), ...createGates("A20", "A22", "A24")],
    },
  ],
};

const concourseB: Concourse = {
  name: "Concourse B",
  x: 280,
  piers: [
    {
      level: 2,
      from: 0,
      west: [
        createCore("Concourse B"),
        createRestroom("Concourse B South"),
        ...createGates("B30", "B32", "B34"),
        createTenant("restaurant", "Sakura Sushi", "sushi, japanese, fish, bento"),
        createNewsstand(),
        ...createGates("B36", "B38", "B40"),
        createRestroom("Concourse B North"),
        ...createGates("B42", "B44", "B46"),
      ],
      east: [
        createWaterAndPower("Concourse B South"),
        createTenant("restaurant", "La Scala Pizza", "pizza, italian, salads"),
        ...createGates("B31", "B33", "B35"),
        createCoffeeShop(),
        createTenant("shop", "Compass Toys", "toys, games, gifts, souvenirs"),
        ...createGates("B37", "B39", "B41"),
        createWaterAndPower("Concourse B North"),
        ...createGates("B43", "B45", "B47"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [createCore("Concourse B"), ...createGates("B48", "B50")],
      east: [createRestroom("Concourse B Ground"), ...createGates("B49", "B51")],
    },
  ],
};

const concourseC: Concourse = {
  name: "Concourse C",
  x: 440,
  piers: [
    {
      level: 2,
      from: 0,
      west: [
        createCore("Concourse C"),
        createRestroom("Concourse C South"),
        ...createGates("C60", "C62", "C64"),
        createTenant("restaurant", "Curry Harbour", "curry, indian, vegetarian, halal"),
        ...createGates("C66", "C68"),
        createRestroom("Concourse C North"),
        createStairs("Concourse C North"),
        ...createGates("C70", "C72"),
      ],
      east: [
        createWaterAndPower("Concourse C South"),
        createRoom("information", "Information Desk Concourse C"),
        ...createGates("C61", "C63", "C65"),
        createTenant("restaurant", "Casa Verde", "mexican, tacos, burritos, vegetarian"),
        ...createGates("C67", "C69"),
        createCoffeeShop(),
        createWaterAndPower("Concourse C North"),
        ...createGates("C71", "C73"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [createCore("Concourse C"), ...createGates("C74", "C76")],
      east: [createRestroom("Concourse C Ground"), ...createGates("C75", "C77")],
    },
    // Connected by stairs only: no step-free route is recorded.
    {
      level: 1,
      from: 9,
      west: [createStairs("Concourse C North"), ...createGates("C78", "C80")],
      east: [closedSlot, ...createGates("C79", "C81")],
    },
  ],
};

const concourseD: Concourse = {
  name: "Concourse D",
  x: 620,
  piers: [
    {
      level: 2,
      from: 0,
      west: [
        createCore("Concourse D"),
        createRestroom("Concourse D South"),
        ...createGates("D1", "D3", "D5"),
        createTenant("restaurant", "Trattoria Molo", "italian, pasta, pizza, risotto, wine"),
        createTenant("restaurant", "Green Bowl", "vegan, vegetarian, salads, bowls, healthy food"),
        ...createGates("D7", "D9", "D11"),
        createRestroom("Concourse D North"),
        createCoffeeShop(),
        ...createGates("D13", "D15", "D17"),
      ],
      east: [
        createWaterAndPower("Concourse D South"),
        createRoom("information", "Information Desk Concourse D"),
        ...createGates("D2", "D4", "D6"),
        createTenant("cafe", "Mast & Bean", "coffee, bagels, smoothies, juice"),
        createTenant("lounge", "Harbor Lounge", "first class lounge, showers, quiet, buffet, wifi"),
        ...createGates("D8", "D10", "D12"),
        createWaterAndPower("Concourse D North"),
        createTenant("shop", "Duty Free North", "duty free, perfume, spirits, chocolate"),
        ...createGates("D14", "D16", "D18"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [createCore("Concourse D"), ...createGates("D19", "D21", "D23")],
      east: [createRestroom("Concourse D Ground"), ...createGates("D20", "D22"), createGate("D24")],
    },
  ],
};

const createArrivals = (terminal: string, more: readonly Slot[]): Slot[] => [
  createCore(`${terminal} West`),
  createRoom("information", `Information Desk ${terminal} Arrivals`),
  createRestroom(`${terminal} Arrivals`),
  createCoffeeShop(),
  ...more,
];

export const terminals: readonly Terminal[] = [
  {
    name: "Terminal 1",
    west: 0,
    east: 200,
    concourses: [concourseA],
    landside: [
      createCore("Terminal 1 West"),
      createRoom("checkin", "Check-in Terminal 1", "Counters 1 to 30 and bag drop."),
      createRestroom("Terminal 1 Departures"),
      createRoom("information", "Information Desk Terminal 1"),
      createCoffeeShop(),
      createRoom("atm", "Cash Machine Terminal 1"),
      createNewsstand(),
    ],
    airside: [
      createTenant("shop", "Duty Free Terminal 1", "duty free, perfume, spirits, chocolate"),
      closedSlot,
    ],
    arrivals: createArrivals("Terminal 1", [createRoom("atm", "Cash Machine Terminal 1 Arrivals")]),
    baggage: [createRoom("baggage", "Baggage Claim Terminal 1", "Belts 1 to 4.")],
  },
  {
    name: "Terminal 2",
    west: 220,
    east: 500,
    concourses: [concourseB, concourseC],
    landside: [
      createCore("Terminal 2 West"),
      createRoom("checkin", "Check-in Terminal 2", "Counters 31 to 70 and bag drop."),
      createRestroom("Terminal 2 Departures"),
      createRoom("information", "Information Desk Terminal 2"),
      createTenant("restaurant", "Captain's Table", "seafood, fish, steak, breakfast"),
      createTenant("pharmacy", "Harbor Pharmacy", "medicine, chemist, drugstore, first aid, sun cream"),
      createCoffeeShop(),
    ],
    airside: [
      createTenant("shop", "Duty Free Terminal 2", "duty free, perfume, spirits, chocolate"),
      closedSlot,
      createRoom("restroom", "Restroom Terminal 2 Hall"),
      createTenant("shop", "Sailcloth & Co", "clothes, fashion, hats, bags, sunglasses"),
    ],
    arrivals: createArrivals("Terminal 2", [
      createTenant("shop", "Mooring Market", "groceries, drinks, snacks, flowers"),
    ]),
    baggage: [createRoom("baggage", "Baggage Claim Terminal 2", "Belts 5 to 9.")],
  },
  {
    name: "Terminal 3",
    west: 520,
    east: 720,
    concourses: [concourseD],
    landside: [
      createCore("Terminal 3 West"),
      createRoom("checkin", "Check-in Terminal 3", "Counters 71 to 100 and bag drop."),
      createRestroom("Terminal 3 Departures"),
      createRoom("information", "Information Desk Terminal 3"),
      createTenant("cafe", "Quayside Bakery", "coffee, bread, cake, sandwiches, breakfast"),
      createRoom("atm", "Cash Machine Terminal 3"),
    ],
    airside: [
      createTenant("shop", "Duty Free Terminal 3", "duty free, perfume, spirits, chocolate"),
      closedSlot,
    ],
    arrivals: createArrivals("Terminal 3", []),
    baggage: [createRoom("baggage", "Baggage Claim Terminal 3", "Belts 10 to 13.")],
  },
];
