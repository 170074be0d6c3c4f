import { MayBeAbsent, Rule } from '@animal-store/http-kit';

/** A body for specs of validation: a string, an exact integer, and an optional member. */
export class OrderDto {
  @Rule('must be text', (value) => typeof value === 'string')
  title!: string;

  @Rule('must be a positive integer', (value) => typeof value === 'bigint' && value > 0n)
  amount!: bigint;

  @MayBeAbsent()
  @Rule('must be true', (value) => value === true)
  gift?: boolean;
}
