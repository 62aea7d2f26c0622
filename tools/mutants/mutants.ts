// Makes wrong versions of a source with one small change each: another operator, a constant condition, an entry less.
// Types have no mutants, because they are gone when the program runs.
import { childrenOf, treeOf, type Node } from './syntax-tree.ts';

export type Mutant = {
  readonly line: number;
  /** The old code and the new. */
  readonly change: string;
  readonly code: string;
};

type Change = { readonly start: number; readonly end: number; readonly into: string };

const otherOperator: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '+',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

export function mutantsOf(source: string): Mutant[] {
  const changes: Change[] = [];
  walk(treeOf(source), (node) => changes.push(...changesOf(node, source)));
  return changes.map(({ start, end, into }) => ({
    line: source.slice(0, start).split('\n').length,
    change: `${shortened(source.slice(start, end))} → ${shortened(into) || 'nothing'}`,
    code: source.slice(0, start) + into + source.slice(end),
  }));
}

/** Visits every node that exists when the program runs. */
function walk(node: Node, visit: (node: Node) => void): void {
  const isOfTypes = node.type.startsWith('TS') && !('expression' in node);
  if (isOfTypes || node['importKind'] === 'type' || node.type === 'ImportDeclaration') return;
  visit(node);
  for (const [member, child] of childrenOf(node)) {
    if (member === 'typeAnnotation' || member === 'typeParameters' || member === 'typeArguments') continue;
    walk(child, visit);
  }
}

function changesOf(node: Node, source: string): Change[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { left, right, operator } = node as unknown as { left: Node; right: Node; operator: string };
      const into = otherOperator[operator];
      const start = source.indexOf(operator, left.end);
      return into === undefined || start >= right.start
        ? []
        : [{ start, end: start + operator.length, into }];
    }
    case 'Literal':
      return literal(node);
    case 'IfStatement':
    case 'ConditionalExpression': {
      const { start, end } = node['test'] as Node;
      return ['true', 'false'].map((into) => ({ start, end, into }));
    }
    case 'ObjectExpression':
      return (node['properties'] as Node[]).map(({ start, end }) => ({
        start,
        end: end + (/^\s*,/.exec(source.slice(end))?.[0].length ?? 0),
        into: '',
      }));
    case 'ThrowStatement':
      return [{ start: node.start, end: node.end, into: ';' }];
    default:
      return [];
  }
}

function literal({ value, start, end }: Node): Change[] {
  if (typeof value === 'boolean') return [{ start, end, into: String(!value) }];
  if (typeof value === 'number') return [{ start, end, into: String(value + 1) }];
  return typeof value === 'bigint' ? [{ start, end, into: `${value + 1n}n` }] : [];
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
}
