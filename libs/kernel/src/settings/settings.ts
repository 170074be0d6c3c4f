import type { CleanedEnv, CleanedEnvAccessors, ExactValidator, ValidatorSpec } from 'envalid';

export type Variable = ValidatorSpec<unknown> & {
  readonly rule?: string;
  readonly isSecret?: boolean;
};

export type Variables = Readonly<Record<string, Variable>>;

type ValuesOf<Declared> = Omit<CleanedEnv<Declared>, keyof CleanedEnvAccessors>;

/** A class whose instance has the values of environment variables. Nest injects it. */
export type SettingsClass<Values = object> = (new () => Values) & { readonly variables: Variables };

/** Returns the base class of a context's settings: `class PaymentSettings extends Settings({ PAYMENTS_URL: httpUrl({ … }) }) {}`. */
export function Settings<Declared extends Variables>(variables: Declared): SettingsClass<ValuesOf<Declared>> {
  return class {
    static readonly variables = variables;
  } as unknown as SettingsClass<ValuesOf<Declared>>;
}

/** Declares a secret, such as `secret(text)({ desc: … })`. It can also be in a file: the variable with the suffix `_FILE` has the path. */
export const secret = <T>(validator: ExactValidator<T>): ExactValidator<T> =>
  ((...spec: Parameters<typeof validator>) => ({ ...validator(...spec), isSecret: true })) as ExactValidator<T>;
