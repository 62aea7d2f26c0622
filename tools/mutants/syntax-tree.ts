// Reads the syntax tree of a TypeScript source, for tools that change sources.
import { parseAst } from 'vitest/node';

export type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>;

/** Throws when the source does not parse. */
export function treeOf(source: string): Node {
  return parseAst(source, { lang: 'ts' }) as unknown as Node;
}

/** The direct children of a node, with the member that holds each. */
export function childrenOf(node: Node): (readonly [member: string, child: Node])[] {
  return Object.entries(node).flatMap(([member, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value])
      .filter(isNode)
      .map((child) => [member, child] as const),
  );
}

/** The node and all its descendants. */
export function nodesIn(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(([, child]) => nodesIn(child))];
}

/** Statements that declare a function, class, variable or type with this name, at any depth. */
export function declarationsOf(name: string, source: string): Node[] {
  // Parsing is slow, and most sources do not declare the name.
  const mayDeclare = new RegExp(`\\b(?:function|class|const|let|type)\\s+${name}\\b`);
  if (!source.includes(name) || !mayDeclare.test(source)) return [];
  return nodesIn(treeOf(source)).filter((node) => {
    if (node.type === 'VariableDeclaration')
      return (node['declarations'] as unknown[]).some((one) => nameOf(one) === name);
    return declares.has(node.type) && nameOf(node) === name;
  });
}

const declares = new Set(['FunctionDeclaration', 'ClassDeclaration', 'TSTypeAliasDeclaration']);

function nameOf(node: unknown): string | undefined {
  return (node as { id?: { name?: string } | null }).id?.name;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
