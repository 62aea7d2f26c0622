// A TypeScript source as passages: its comments, its texts in quotes and its names.
import ts from 'typescript';
import type { Passage } from './rules.ts';

export type SourceText = {
  readonly header?: Passage;
  readonly comments: readonly Passage[];
  readonly strings: readonly Passage[];
  readonly names: readonly Passage[];
};

export function readTypeScript(path: string, text: string): SourceText {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const literals: Span[] = [];
  const strings: Passage[] = [];
  const names = new Map<string, Passage>();

  const visit = (node: ts.Node): void => {
    if (isText(node) || ts.isRegularExpressionLiteral(node))
      literals.push({ start: node.getStart(file), end: node.end });
    if (isText(node) && !isModuleName(node))
      strings.push({ line: lineAt(node.getStart(file)), text: node.text });
    if (ts.isIdentifier(node) && !names.has(node.text))
      names.set(node.text, { line: lineAt(node.getStart(file)), text: node.text });
    ts.forEachChild(node, visit);
  };
  visit(file);

  const comments = joined(commentsIn(text, literals), text, lineAt);
  const header = comments.find(({ line }) => line === (text.startsWith('#!') ? 2 : 1));
  return { ...(header && { header }), comments, strings, names: [...names.values()] };
}

type Span = { readonly start: number; readonly end: number };
type TextNode = ts.StringLiteral | ts.TemplateLiteralLikeNode;

function isText(node: ts.Node): node is TextNode {
  return ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
}

function isModuleName({ parent }: ts.Node): boolean {
  return ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent);
}

/** Outside literals, two characters begin a comment, whatever stands around it. */
function commentsIn(text: string, literals: readonly Span[]): Span[] {
  const ends = new Map(literals.map(({ start, end }) => [start, end]));
  const comments: Span[] = [];
  for (let at = 0; at < text.length; at++) {
    const end = ends.get(at);
    if (end !== undefined) {
      at = end - 1;
    } else if (text.startsWith('//', at) || text.startsWith('/*', at)) {
      const close = text[at + 1] === '/' ? text.indexOf('\n', at) : text.indexOf('*/', at) + 2;
      const until = close < at ? text.length : close;
      comments.push({ start: at, end: until });
      at = until - 1;
    }
  }
  return comments;
}

/** Line comments one below the other are one comment. */
function joined(spans: readonly Span[], text: string, lineAt: (at: number) => number): Passage[] {
  const comments: (Passage & { readonly last: number; readonly isLine: boolean })[] = [];
  for (const { start, end } of spans) {
    const line = lineAt(start);
    const isLine =
      text.startsWith('//', start) && text.slice(text.lastIndexOf('\n', start) + 1, start).trim() === '';
    const body = bodyOf(text.slice(start, end));
    const before = comments.at(-1);
    if (before?.isLine && isLine && line === before.last + 1)
      comments.splice(-1, 1, { ...before, text: `${before.text}\n${body}`, last: line });
    else comments.push({ line, text: body, last: lineAt(end - 1), isLine });
  }
  return comments.map(({ line, text: body }) => ({ line, text: body }));
}

function bodyOf(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(?:\/\/|\*)\s?/gm, '')
    .trim();
}
