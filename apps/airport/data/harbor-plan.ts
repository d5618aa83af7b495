// What is where at Harbor International, a fictional airport. Slots go from south to north in concourses, from west to
// east in terminals. Gates 1 to 24 exist in concourses A and D, so that "Gate 15" alone can mean two.

import {
  closed,
  core,
  gate,
  gates,
  one,
  restroom,
  type Slot,
  stairsOnly,
  tenant,
  waterAndPower,
} from "./room.ts";

/** A walkway of a concourse on one level with its two walls. `from` is the slot at which it begins. */
export type Pier = {
  readonly level: 1 | 2;
  readonly from: number;
  readonly west: readonly Slot[];
  readonly east: readonly Slot[];
};

export type Concourse = {
  readonly name: string;
  /** The middle of its walkway, in metres east of the corner of Terminal 1. */
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

const coffee = (): Slot => tenant("cafe", "Lighthouse Coffee", "coffee, espresso, tea, pastries, breakfast");
const news = (): Slot =>
  tenant("shop", "Dockside News", "newspapers, books, magazines, snacks, travel adapters");

const concourseA: Concourse = {
  name: "Concourse A",
  x: 100,
  piers: [
    {
      level: 2,
      from: 0,
      west: [
        core("Concourse A"),
        restroom("Concourse A South"),
        ...gates("A1", "A3", "A5"),
        tenant("restaurant", "Pier Nine Noodles", "noodles, ramen, asian, chinese, soup"),
        news(),
        ...gates("A7", "A9", "A11"),
        restroom("Concourse A North"),
        tenant("cafe", "Tide Café", "coffee, cake, ice cream, sandwiches"),
        ...gates("A13", "A15", "A17"),
      ],
      east: [
        waterAndPower("Concourse A South"),
        one("information", "Information Desk Concourse A"),
        ...gates("A2", "A4", "A6"),
        coffee(),
        tenant("lounge", "Skyline Lounge", "business lounge, showers, quiet, wifi"),
        ...gates("A8", "A10", "A12"),
        waterAndPower("Concourse A North"),
        tenant("restaurant", "Anchor Burgers", "burgers, american, fries, fast food"),
        ...gates("A14", "A16", "A18"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [core("Concourse A"), ...gates("A19", "A21", "A23")],
      east: [restroom("Concourse A Ground"), ...gates("A20", "A22", "A24")],
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
        core("Concourse B"),
        restroom("Concourse B South"),
        ...gates("B30", "B32", "B34"),
        tenant("restaurant", "Sakura Sushi", "sushi, japanese, fish, bento"),
        news(),
        ...gates("B36", "B38", "B40"),
        restroom("Concourse B North"),
        ...gates("B42", "B44", "B46"),
      ],
      east: [
        waterAndPower("Concourse B South"),
        tenant("restaurant", "La Scala Pizza", "pizza, italian, salads"),
        ...gates("B31", "B33", "B35"),
        coffee(),
        tenant("shop", "Compass Toys", "toys, games, gifts, souvenirs"),
        ...gates("B37", "B39", "B41"),
        waterAndPower("Concourse B North"),
        ...gates("B43", "B45", "B47"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [core("Concourse B"), ...gates("B48", "B50")],
      east: [restroom("Concourse B Ground"), ...gates("B49", "B51")],
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
        core("Concourse C"),
        restroom("Concourse C South"),
        ...gates("C60", "C62", "C64"),
        tenant("restaurant", "Curry Harbour", "curry, indian, vegetarian, halal"),
        ...gates("C66", "C68"),
        restroom("Concourse C North"),
        stairsOnly("Concourse C North"),
        ...gates("C70", "C72"),
      ],
      east: [
        waterAndPower("Concourse C South"),
        one("information", "Information Desk Concourse C"),
        ...gates("C61", "C63", "C65"),
        tenant("restaurant", "Casa Verde", "mexican, tacos, burritos, vegetarian"),
        ...gates("C67", "C69"),
        coffee(),
        waterAndPower("Concourse C North"),
        ...gates("C71", "C73"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [core("Concourse C"), ...gates("C74", "C76")],
      east: [restroom("Concourse C Ground"), ...gates("C75", "C77")],
    },
    // Its only link to the rest is the stairs: no step-free way is recorded.
    {
      level: 1,
      from: 9,
      west: [stairsOnly("Concourse C North"), ...gates("C78", "C80")],
      east: [closed, ...gates("C79", "C81")],
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
        core("Concourse D"),
        restroom("Concourse D South"),
        ...gates("D1", "D3", "D5"),
        tenant("restaurant", "Trattoria Molo", "italian, pasta, pizza, risotto, wine"),
        tenant("restaurant", "Green Bowl", "vegan, vegetarian, salads, bowls, healthy food"),
        ...gates("D7", "D9", "D11"),
        restroom("Concourse D North"),
        coffee(),
        ...gates("D13", "D15", "D17"),
      ],
      east: [
        waterAndPower("Concourse D South"),
        one("information", "Information Desk Concourse D"),
        ...gates("D2", "D4", "D6"),
        tenant("cafe", "Mast & Bean", "coffee, bagels, smoothies, juice"),
        tenant("lounge", "Harbor Lounge", "first class lounge, showers, quiet, buffet, wifi"),
        ...gates("D8", "D10", "D12"),
        waterAndPower("Concourse D North"),
        tenant("shop", "Duty Free North", "duty free, perfume, spirits, chocolate"),
        ...gates("D14", "D16", "D18"),
      ],
    },
    {
      level: 1,
      from: 0,
      west: [core("Concourse D"), ...gates("D19", "D21", "D23")],
      east: [restroom("Concourse D Ground"), ...gates("D20", "D22"), gate("D24")],
    },
  ],
};

const arrivalsOf = (terminal: string, more: readonly Slot[]): Slot[] => [
  core(`${terminal} West`),
  one("information", `Information Desk ${terminal} Arrivals`),
  restroom(`${terminal} Arrivals`),
  coffee(),
  ...more,
];

export const terminals: readonly Terminal[] = [
  {
    name: "Terminal 1",
    west: 0,
    east: 200,
    concourses: [concourseA],
    landside: [
      core("Terminal 1 West"),
      one("checkin", "Check-in Terminal 1", "Counters 1 to 30 and bag drop."),
      restroom("Terminal 1 Departures"),
      one("information", "Information Desk Terminal 1"),
      coffee(),
      one("atm", "Cash Machine Terminal 1"),
      news(),
    ],
    airside: [tenant("shop", "Duty Free Terminal 1", "duty free, perfume, spirits, chocolate"), closed],
    arrivals: arrivalsOf("Terminal 1", [one("atm", "Cash Machine Terminal 1 Arrivals")]),
    baggage: [one("baggage", "Baggage Claim Terminal 1", "Belts 1 to 4.")],
  },
  {
    name: "Terminal 2",
    west: 220,
    east: 500,
    concourses: [concourseB, concourseC],
    landside: [
      core("Terminal 2 West"),
      one("checkin", "Check-in Terminal 2", "Counters 31 to 70 and bag drop."),
      restroom("Terminal 2 Departures"),
      one("information", "Information Desk Terminal 2"),
      tenant("restaurant", "Captain's Table", "seafood, fish, steak, breakfast"),
      tenant("pharmacy", "Harbor Pharmacy", "medicine, chemist, drugstore, first aid, sun cream"),
      coffee(),
    ],
    airside: [
      tenant("shop", "Duty Free Terminal 2", "duty free, perfume, spirits, chocolate"),
      closed,
      one("restroom", "Restroom Terminal 2 Hall"),
      tenant("shop", "Sailcloth & Co", "clothes, fashion, hats, bags, sunglasses"),
    ],
    arrivals: arrivalsOf("Terminal 2", [
      tenant("shop", "Mooring Market", "groceries, drinks, snacks, flowers"),
    ]),
    baggage: [one("baggage", "Baggage Claim Terminal 2", "Belts 5 to 9.")],
  },
  {
    name: "Terminal 3",
    west: 520,
    east: 720,
    concourses: [concourseD],
    landside: [
      core("Terminal 3 West"),
      one("checkin", "Check-in Terminal 3", "Counters 71 to 100 and bag drop."),
      restroom("Terminal 3 Departures"),
      one("information", "Information Desk Terminal 3"),
      tenant("cafe", "Quayside Bakery", "coffee, bread, cake, sandwiches, breakfast"),
      one("atm", "Cash Machine Terminal 3"),
    ],
    airside: [tenant("shop", "Duty Free Terminal 3", "duty free, perfume, spirits, chocolate"), closed],
    arrivals: arrivalsOf("Terminal 3", []),
    baggage: [one("baggage", "Baggage Claim Terminal 3", "Belts 10 to 13.")],
  },
];
