import { parser } from '@prometheus-io/lezer-promql';

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** A metric that a query reads. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface ParsedQuery {
  readonly selectors: readonly Selector[];
  /** The labels after `by`. */
  readonly grouping: readonly string[];
}

/** @throws Error if the query is not valid PromQL */
export function parseQuery(expr: string): ParsedQuery {
  const selectors: { metric: string; matchers: Matcher[] }[] = [];
  const grouping: string[] = [];
  const textOf = ({ from, to }: { from: number; to: number }) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: ({ name, type, node }) => {
      if (type.isError) throw new Error(`invalid PromQL at character ${node.from}: ${expr}`);
      if (name === 'VectorSelector') {
        const metric = node.getChild('Identifier');
        selectors.push({ metric: metric ? textOf(metric) : '', matchers: [] });
      } else if (name === 'UnquotedLabelMatcher') {
        const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((child) => {
          const found = node.getChild(child);
          return found ? textOf(found) : '';
        });
        selectors.at(-1)?.matchers.push({ label: label ?? '', operator: operator ?? '', value: (value ?? '').slice(1, -1) });
      } else if (name === 'GroupingLabels') {
        grouping.push(...node.getChildren('LabelName').map(textOf));
      }
    },
  });
  return { selectors, grouping };
}
