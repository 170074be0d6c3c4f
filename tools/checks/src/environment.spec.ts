import { variables } from '@animal-store/api/configuration';
import { expect, it } from '@jest/globals';
import { readText } from './workspace.js';

/** Read by `npm start` itself, not by the API. */
const OF_START = ['DATA_DIR'];

const assignments = [...readText('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => ({
  name,
  value,
}));

it('.env.example lists exactly the variables that the service reads', () => {
  const names = assignments.map(({ name }) => name);
  expect([...names].sort()).toEqual([...Object.keys(variables), ...OF_START].sort());
});

interface Declared {
  readonly default?: string | number | boolean | readonly string[] | undefined;
  readonly example?: string | undefined;
}

it.each(Object.entries<Declared>(variables))('.env.example shows the default of %s, else an example', (name, variable) => {
  const shown = assignments.find((assignment) => assignment.name === name)?.value;
  expect(shown).toBe(String(variable.default ?? '') || variable.example);
});
