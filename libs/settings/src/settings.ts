import type { CleanedEnv, CleanedEnvAccessors, ValidatorSpec } from 'envalid';
import { path } from './validators.js';

/** An environment variable. */
export type Variable = ValidatorSpec<unknown> & {
  /** What the value must be. */
  readonly rule?: string;
  readonly isSecret?: boolean;
};

export type Variables = Readonly<Record<string, Variable>>;

type ValuesOf<Declared> = Omit<CleanedEnv<Declared>, keyof CleanedEnvAccessors>;

/** A class whose instance has the values of environment variables. Nest injects it. */
export type SettingsClass<Values = object> = (new () => Values) & { readonly variables: Variables };

/**
 * Returns the base class of a context's settings. Add the class to `settings` of the context.
 *
 *     export class PaymentSettings extends Settings({
 *       PAYMENTS_URL: httpUrl({ desc: 'URL of the payment provider.', default: 'https://pay.example.com' }),
 *       PAYMENTS_API_KEY: secret(text({ desc: 'API key of the payment provider.', devDefault: 'none' })),
 *     }) {}
 */
export function Settings<Declared extends Variables>(variables: Declared): SettingsClass<ValuesOf<Declared>> {
  return class {
    static readonly variables = variables;
  } as unknown as SettingsClass<ValuesOf<Declared>>;
}

/** Declares a secret, which can also be in a file: the variable with the suffix `_FILE` has the path. The file is read for each use. */
export const secret = <Declared extends Variable>(variable: Declared): Declared => ({ ...variable, isSecret: true });

/** Adds the variables for the files of secrets. */
export function withFiles<Declared extends Variables>(variables: Declared): Declared {
  const fileOf = (name: string) =>
    path({
      default: undefined,
      desc: `File that contains ${name}. The service reads the file again for each use.`,
      example: `/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`,
    });
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) => [
      [name, variable],
      ...(variable.isSecret ? [[`${name}_FILE`, fileOf(name)]] : []),
    ]),
  ) as Declared;
}
