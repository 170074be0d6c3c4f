export interface DemoPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status: 'available' | 'pending' | 'sold';
}

export interface DemoOptions {
  /** Any unsigned 32-bit integer. Equal seeds give equal pets. */
  readonly seed: number;
  /** Share of all pets, from 0 to 1. */
  readonly pendingShare: number;
  readonly soldShare: number;
}

const CALL_NAMES = (
  'Alma Apollo Archie Asta Bailey Barney Basil Bella Bertie Biscuit Blue Bonnie Bramble Bruno Buddy Button Caramel Casper Charlie Chester ' +
  'Cleo Clover Coco Cookie Daisy Dexter Dixie Domino Duke Echo Ella Felix Finn Flora Freya Ginger Gizmo Hazel Heidi Henry Hugo Indie Iris ' +
  'Ivy Jasper Juno Kiki Kira Lola Louie Lucky Luna Mabel Maple Marble Max Merlin Milo Mimi Minnie Misty Mochi Molly Monty Muffin Nala ' +
  'Nelly Nero Nova Olive Oreo Oscar Otto Paula Peaches Pebbles Penny Pepper Percy Pickle Pippa Poppy Pumpkin Quincy Remy Rex Rolo Rosie ' +
  'Ruby Rufus Sage Sally Scout Shadow Simba Smokey Snowy Sooty Sparky Stella Sunny Teddy Tilly Toby Toffee Tommy Treacle Truffle Waffles ' +
  'Willow Winnie Ziggy Zoe'
).split(' ');

const TITLES = ['Baron', 'Captain', 'Dame', 'Doctor', 'Lady', 'Little', 'Lord', 'Miss', 'Mister', 'Old', 'Princess', 'Professor', 'Sir'];

/** The kinds of animals in each category. The id of a category is its index plus 1. */
const CATEGORIES = [
  [
    'Airedale',
    'Beagle',
    'Border Collie',
    'Boxer',
    'Corgi',
    'Dachshund',
    'Dalmatian',
    'Greyhound',
    'Labrador',
    'Poodle',
    'Pug',
    'Spaniel',
    'Whippet',
  ],
  ['Abyssinian', 'Bengal', 'Birman', 'Burmese', 'Maine Coon', 'Manx', 'Persian', 'Ragdoll', 'Siamese', 'Tabby', 'Tortoiseshell'],
  ['Angora', 'Dutch Rabbit', 'Flemish Giant', 'Lionhead', 'Lop', 'Rex Rabbit'],
  ['Budgerigar', 'Canary', 'Cockatiel', 'Conure', 'Lovebird', 'Parrotlet', 'Zebra Finch'],
  ['Betta', 'Clownfish', 'Goldfish', 'Guppy', 'Koi', 'Molly Fish', 'Neon Tetra'],
  ['Chinchilla', 'Degu', 'Gerbil', 'Guinea Pig', 'Hamster', 'Rat'],
  ['Bearded Dragon', 'Corn Snake', 'Crested Gecko', 'Leopard Gecko', 'Tortoise'],
  ['Connemara Pony', 'Donkey', 'Haflinger', 'Shetland Pony'],
] as const;

/** Yields an endless sequence of realistic pets, the same one for the same options. */
export function* demoPets({ seed, pendingShare, soldShare }: DemoOptions): Generator<DemoPet, never> {
  const random = randomNumbers(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (;;) {
    // Squaring makes the first categories more frequent.
    const category = Math.floor(random() ** 2 * CATEGORIES.length);
    const kind = pick(CATEGORIES[category] ?? CATEGORIES[0]);
    const nameForm = random();
    const callName = pick(CALL_NAMES);
    const name = nameForm < 0.3 ? callName : nameForm < 0.85 ? `${callName} the ${kind}` : `${pick(TITLES)} ${callName}`;
    const statusRoll = random();
    const status = statusRoll < pendingShare ? 'pending' : statusRoll < pendingShare + soldShare ? 'sold' : 'available';
    yield { name, categoryId: category + 1, status };
  }
}

/** Returns a pseudorandom number generator for numbers from 0 to 1. It mixes the bits of a counter. Not for secrets. */
function randomNumbers(seed: number): () => number {
  let counter = mix(seed + 1);
  return () => {
    counter = (counter + 0x9e3779b9) | 0;
    return (mix(counter) >>> 0) / 2 ** 32;
  };
}

function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
