import type { ClientOptions } from './options.js';
import { Pets } from './pets.js';
import { Transport } from './transport.js';

/** Client of the Animal Store API. */
export class AnimalStore {
  readonly pets: Pets;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.pets = new Pets(transport);
  }
}
