import type { ClientOptions } from './options.js';
import { Pets } from './pets.js';
import { Transport } from './transport.js';

/** Client of the Animal Store API. */
export class AnimalStore {
  readonly pets: Pets;

  constructor(options: ClientOptions) {
    this.pets = new Pets(new Transport(options));
  }
}
