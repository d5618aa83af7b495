import type { Network, NetworkEdge, NetworkNode, Properties } from "../network.ts";

// Fictional: three cats, their owners, houses, toys and food. There are no dogs.
const nodes: readonly NetworkNode[] = [
  createNode("cat1", { type: "cat", name: "Whiskers", breed: "tabby", age: 5 }),
  createNode("cat2", { type: "cat", name: "Mittens", breed: "persian", age: 3 }),
  createNode("cat3", { type: "cat", name: "Shadow", breed: "siamese", age: 7 }),
  createNode("human1", { type: "human", name: "Ada", job: "baker", age: 34 }),
  createNode("human2", { type: "human", name: "Ben", job: "teacher", age: 41 }),
  createNode("human3", { type: "human", name: "Chloe", job: "architect", age: 29 }),
  createNode("human4", { type: "human", name: "Dan", job: "gardener", age: 31 }),
  createNode("human5", { type: "human", name: "Eva", job: "student", age: 19 }),
  createNode("human6", { type: "human", name: "Finn", job: "pupil", age: 12 }),
  createNode("human7", { type: "human", name: "Grace", job: "vet", age: 52 }),
  createNode("house1", { type: "house", name: "Maple Cottage", rooms: 4 }),
  createNode("house2", { type: "house", name: "Hill House", rooms: 6 }),
  createNode("house3", { type: "house", name: "River Flat", rooms: 2 }),
  createNode("house4", { type: "house", name: "Old Mill", rooms: 5 }),
  createNode("toy1", { type: "toy", name: "Feather Wand", price: 6 }),
  createNode("toy2", { type: "toy", name: "Wool Ball", price: 2 }),
  createNode("toy3", { type: "toy", name: "Toy Mouse", price: 3 }),
  createNode("toy4", { type: "toy", name: "Scratching Post", price: 25 }),
  createNode("food1", { type: "food", name: "Tuna", price: 2 }),
  createNode("food2", { type: "food", name: "Kibble", price: 1 }),
];

const ties: readonly (readonly [type: string, from: string, to: string])[] = [
  ["owner_of", "human1", "cat1"],
  ["owner_of", "human2", "cat2"],
  ["owner_of", "human3", "cat3"],
  ["owner_of", "human4", "cat3"],
  ["lives_in", "cat1", "house1"],
  ["lives_in", "cat2", "house2"],
  ["lives_in", "cat3", "house3"],
  ["lives_in", "human1", "house1"],
  ["lives_in", "human2", "house2"],
  ["lives_in", "human3", "house3"],
  ["lives_in", "human4", "house3"],
  ["lives_in", "human5", "house1"],
  ["lives_in", "human6", "house2"],
  ["lives_in", "human7", "house4"],
  ["plays_with", "cat1", "toy1"],
  ["plays_with", "cat1", "toy2"],
  ["plays_with", "cat2", "toy3"],
  ["plays_with", "cat3", "toy2"],
  ["plays_with", "cat3", "toy4"],
  ["fed_with", "cat1", "food1"],
  ["fed_with", "cat2", "food2"],
  ["fed_with", "cat3", "food1"],
  ["fed_with", "cat3", "food2"],
  ["friend_of", "human1", "human2"],
  ["friend_of", "human1", "human5"],
  ["friend_of", "human2", "human3"],
  ["friend_of", "human3", "human7"],
  ["friend_of", "human5", "human6"],
  ["friend_of", "human6", "human7"],
  ["friend_of", "cat1", "cat2"],
];

export const pets: Network = {
  name: "pets",
  title: "Cats and their people (fictional)",
  isDirected: true,
  nodes,
  edges: ties.map(
    ([type, from, to], index): NetworkEdge => ({
      id: `edge${index + 1}`,
      from,
      to,
      data: { type },
    }),
  ),
};

function createNode(id: string, data: Properties): NetworkNode {
  return { id, data };
}
