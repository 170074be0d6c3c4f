import type { ClientOptions } from './options.cjs';
import { Pets } from './pets.cjs';
/** Client of the Animal Store API. */
export declare class AnimalStore {
    readonly pets: Pets;
    constructor(options: ClientOptions);
}
